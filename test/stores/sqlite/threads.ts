import { MessagePort, type Worker } from "node:worker_threads"
import { afterEach } from "vitest"

export interface Threads {
  /** The threads of the stores of this test, in the order in which they were started. */
  readonly workers: readonly Worker[]
  /** Ends a thread before it reads any later request: it dies of a parcel that it cannot read. */
  kill(index: number): void
}

/** Records the threads of stores, and the port by which each gets its requests. */
export function threads(): Threads {
  const workers: Worker[] = []
  const ports: MessagePort[] = []
  const known = new WeakSet<MessagePort>()
  process.on("worker", (worker) => workers.push(worker))
  const { postMessage } = MessagePort.prototype
  MessagePort.prototype.postMessage = function (this: MessagePort, ...args: Posted) {
    // A thread is sent its first parcel as soon as it is started, so ports have the order of the threads.
    if (isParcel(args[0]) && !known.has(this)) {
      known.add(this)
      ports.push(this)
    }
    return postMessage.apply(this, args)
  }
  afterEach(() => {
    workers.splice(0)
    ports.splice(0)
  })
  return { workers, kill: (index) => ports[index]?.postMessage("no parcel") }
}

type Posted = Parameters<MessagePort["postMessage"]>

function isParcel(message: unknown): boolean {
  return typeof message === "object" && message !== null && "sentAtMs" in message
}
