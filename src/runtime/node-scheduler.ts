import type { Scheduler } from "../ports/scheduler.js"

export const nodeScheduler: Scheduler = {
  microtask: (task) => queueMicrotask(task),
  // Not setTimeout(0), which waits a millisecond, and not process.nextTick, which lets no socket in.
  yield: (task) => {
    setImmediate(task)
  },
}
