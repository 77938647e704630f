import type { Scheduler } from "../ports/scheduler.js"

export const nodeScheduler: Scheduler = {
  // Not queueMicrotask, which in Node enters and leaves an asynchronous context around every task and costs
  // twice as much.
  microtask: (task) => {
    settled.then(task)
  },
  // A tick that is asked for from within a microtask comes when they are all done; from elsewhere it would
  // come before them.
  afterMicrotasks: (task) => {
    settled.then(() => process.nextTick(task))
  },
  // Not setTimeout(0), which waits a millisecond, and not process.nextTick, which lets no socket in.
  yield: (task) => {
    setImmediate(task)
  },
}

const settled = Promise.resolve()
