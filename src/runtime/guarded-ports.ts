import { LimitedLogger } from "../actor/limited-logger.js"
import type { Clock } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Scheduler } from "../ports/scheduler.js"

/**
 * Guards timers and deferred tasks, which have no caller that could catch an error, so that an error would
 * end the process. Such an error is a defect of the runtime: it is logged, rate-limited, and everything
 * else continues. Microtasks are not guarded here: they are scheduled for each message, and the dispatcher
 * guards what it runs in them.
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
  const guarded = (task: () => void) => () => attempt(task, limited, "a deferred task failed")
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
      logger.log("error", `${what}; this is a defect of the runtime, please report it`, { error })
    } catch {
      // The logger itself failed; there is nowhere to report it.
    }
  }
}
