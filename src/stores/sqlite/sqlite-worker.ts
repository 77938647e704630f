/**
 * The thread that runs SQLite. It works when a parcel arrives. While there are watches it also looks for
 * commits of other processes: after their notices, and from time to time without one, because a notice may be
 * lost.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads"
import { StoreUnavailableError } from "../../errors/store-errors.js"
import { nodeClock } from "../../runtime/node-clock.js"
import { loadDriver } from "./driver.js"
import { Gate } from "./gate.js"
import { LookTimes } from "./look-times.js"
import { packFailure, type Report, requestsOf } from "./messages.js"
import { Packing, type Parcel } from "./parcel.js"
import { unavailable } from "./problem.js"
import { retrying } from "./retrying.js"
import { type FileOptions, StoreFile } from "./store-file.js"
import { type Counterpart, StoreThread } from "./store-thread.js"

export interface WorkerOptions extends FileOptions {
  readonly patienceMs: number
  readonly pollMs: number
  /** The memory of the gate. */
  readonly gate: SharedArrayBuffer
  /** The port on which requests arrive. */
  readonly requests: MessagePort
}

const options = workerData as WorkerOptions
const { requests } = options
const counterpart: Counterpart = {
  send: (parcel) => parentPort?.postMessage(parcel, [parcel.buffer]),
  receive: () => receiveMessageOnPort(requests)?.message,
}

// Node 22 prints a warning that its SQLite is experimental, which users can do nothing about. Other threads
// have their own listeners.
process.removeAllListeners("warning")

try {
  serve(await openFile())
} catch (error) {
  refuseAll(unavailable(error, options.file))
}

async function openFile(): Promise<StoreFile> {
  const { file, patienceMs } = options
  const connect = await loadDriver(new Gate(options.gate)).catch((cause) => {
    const message = `SQLite is not available for the store ${file}; use Node 22.13 or later, or run "npm install libsql@0.5"`
    throw new StoreUnavailableError(message, "not-committed", { problem: "unsuitable", cause })
  })
  return new StoreFile(connect, options, (work) => retrying(work, patienceMs))
}

function serve(store: StoreFile): void {
  const thread = new StoreThread(store, counterpart, options)
  const times = new LookTimes(options.pollMs)
  let next: NodeJS.Immediate | undefined
  let poll: NodeJS.Timeout | undefined
  let notices: { close(): void } | undefined
  let isNoticed = false

  const attempt = (work: () => void) => {
    try {
      work()
    } catch {
      // The senders of the requests have been notified.
      end()
    }
  }
  const end = () => {
    clearImmediate(next)
    clearTimeout(poll)
    notices?.close()
    requests.close()
    store.close()
  }
  const work = () => {
    next = undefined
    thread.work()
    if (thread.isClosing) return end()
    if (thread.hasWork) next = setImmediate(attempt, work)
    if (thread.hasWatches && poll === undefined) beginLooking()
    if (thread.hasNews) noticed()
  }
  const beginLooking = () => {
    notices ??= store.notice.watch(noticed, () => times.unnoticed())
    if (notices === undefined) times.unnoticed()
    poll = setTimeout(attempt, times.idleMs(now()), look)
  }
  const noticed = () => {
    if (poll === undefined || isNoticed) return
    isNoticed = true
    clearTimeout(poll)
    poll = setTimeout(attempt, times.noticedMs(now()), look)
  }
  const look = () => {
    isNoticed = false
    times.looks(now())
    const isBehind = thread.tell()
    poll = thread.hasWatches ? setTimeout(attempt, isBehind ? 0 : times.idleMs(now()), look) : undefined
  }

  requests.on("message", (parcel: Parcel) => {
    thread.take(parcel)
    if (next === undefined) attempt(work)
  })
}

/**
 * Called when the file cannot be used. Pending requests are rejected once; the next request starts the next
 * worker.
 */
function refuseAll(error: StoreUnavailableError): void {
  const failure = packFailure(error)
  requests.once("message", (first: Parcel) => {
    const outbox = new Packing<Report>()
    for (let parcel: Parcel | undefined = first; parcel !== undefined; parcel = counterpart.receive()) {
      for (const { id } of requestsOf(parcel)) {
        outbox.add({ kind: "failed", id, failure })
      }
    }
    outbox.add({ kind: "over", id: 0, failure })
    counterpart.send(outbox.take(now()))
    requests.close()
  })
}

function now(): number {
  return nodeClock.monotonicMs()
}
