import type { Scheduler } from "../ports/scheduler.js"

export const nodeScheduler: Scheduler = {
  // Not queueMicrotask, which in Node enters and leaves an asynchronous context around every task and takes
  // twice as long.
  microtask: (task) => {
    settled.then(task)
  },
  // A tick requested within a microtask runs after all microtasks; requested elsewhere, it would run before
  // them.
  afterMicrotasks: (task) => {
    settled.then(() => process.nextTick(task))
  },
  // Not setTimeout(0), which waits a millisecond, and not process.nextTick, which runs before sockets are
  // served.
  yield: (task) => {
    setImmediate(task)
  },
}

const settled = Promise.resolve()
