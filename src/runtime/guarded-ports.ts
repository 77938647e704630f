import { LimitedLogger } from "../actor/limited-logger.js"
import type { Clock } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Scheduler } from "../ports/scheduler.js"

/**
 * Where the runtime is called by nobody who could catch what it throws, which would end the process: a timer,
 * and work that was put off. Such a throw is a defect, and harms what it was about; it is logged, with a
 * limit, and everything else goes on. Microtasks are not among these: they are asked for once for each
 * message, and the dispatcher guards what it runs in them.
 */
export function guardedTimers(clock: Clock, logger: Logger): Clock {
  const limited = new LimitedLogger(logger, clock)
  return {
    wallMs: () => clock.wallMs(),
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (delayMs, fire) => clock.setTimer(delayMs, () => attempt(fire, limited, "a timer failed")),
  }
}

export function guardedTasks(scheduler: Scheduler, clock: Clock, logger: Logger): Scheduler {
  const limited = new LimitedLogger(logger, clock)
  const guarded = (task: () => void) => () => attempt(task, limited, "a task that was put off failed")
  return {
    microtask: (task) => scheduler.microtask(task),
    afterMicrotasks: (task) => scheduler.afterMicrotasks(guarded(task)),
    yield: (task) => scheduler.yield(guarded(task)),
  }
}

function attempt(call: () => void, logger: LimitedLogger, what: string): void {
  try {
    call()
  } catch (error) {
    try {
      logger.log("error", `${what}; this is a defect of the runtime, which goes on`, { error })
    } catch {
      // There is nobody left to tell.
    }
  }
}
