import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import type { RenewalStore, Thread, ThreadListener, Threads } from "../ports/threads.js"
import { AtomicNumbers } from "./shared-numbers.js"

/** Threads of Node, which have modules and memory of their own. */
export const nodeThreads: Threads = {
  startRenewal: (store, listener) => new RenewalWorker(store, listener),
  share: (count) => new AtomicNumbers(count),
  shared: (memory) => new AtomicNumbers(memory as SharedArrayBuffer),
}

export interface RenewalWorkerOptions extends RenewalStore {
  /** Set to 1 once the store of the thread is closed. */
  readonly closed: SharedArrayBuffer
}

class RenewalWorker implements Thread {
  readonly #worker: Worker | undefined
  readonly #closed = new Int32Array(new SharedArrayBuffer(4))
  readonly #ended: Promise<void>

  constructor(store: RenewalStore, listener: ThreadListener) {
    const problem = missingProgram() ?? missingModule(store.module)
    if (problem !== undefined) {
      this.#ended = new Promise((resolve) => {
        setImmediate(() => {
          listener.ended(problem)
          resolve()
        })
      })
      return
    }
    const { module, options, namespace } = store
    const workerData: RenewalWorkerOptions = {
      module,
      options,
      namespace,
      closed: this.#closed.buffer as SharedArrayBuffer,
    }
    const worker = new Worker(programUrl(), { name: "troupe-renewal", workerData, execArgv: [] })
    this.#worker = worker
    // It renews for as long as the process has other things to do.
    worker.unref()
    running.add(this)
    let failure: Error | undefined
    worker.on("message", (message) => listener.received(message))
    worker.on("error", (error) => {
      failure = error instanceof Error ? error : new Error(String(error))
    })
    this.#ended = new Promise((resolve) => {
      worker.on("exit", () => {
        running.delete(this)
        listener.ended(failure)
        resolve()
      })
    })
  }

  post(message: unknown): void {
    this.#worker?.postMessage(message)
  }

  async end(): Promise<void> {
    const worker = this.#worker
    this.post({ kind: "close" })
    worker?.ref()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS)
    })
    await Promise.race([this.#ended, late])
    clearTimeout(timer)
    // A thread in a call that does not return ends with the process.
    worker?.unref()
  }

  /** Waits until the thread has closed its store, on a thread that is about to end with its process. */
  closeNow(): void {
    this.post({ kind: "close" })
    Atomics.wait(this.#closed, 0, 0, EXIT_MS)
  }
}

/**
 * When the process ends, its threads end in the middle of whatever they do. A driver of SQLite that is ended
 * in the middle of a call aborts the process, so the threads close their stores first.
 */
const running = {
  workers: new Set<RenewalWorker>(),

  add(worker: RenewalWorker): void {
    if (this.workers.size === 0) process.on("exit", closeAll)
    this.workers.add(worker)
  },

  delete(worker: RenewalWorker): void {
    this.workers.delete(worker)
    if (this.workers.size === 0) process.removeListener("exit", closeAll)
  },
}

function closeAll(): void {
  for (const worker of running.workers) worker.closeNow()
}

function programUrl(): URL {
  return new URL("./renewal-worker.js", import.meta.url)
}

/** Bundlers follow imports, but a thread is started by the path of its program. */
function missingProgram(): Error | undefined {
  // A bundle of CommonJS has no such property.
  if ((import.meta.url as string | undefined) === undefined) {
    return new Error(
      `troupe cannot find the program of its renewal thread in a bundle of CommonJS; ${EXTERNAL}`,
    )
  }
  const url = programUrl()
  if (existsSync(url)) return undefined
  return new Error(
    `the program of the renewal thread is not at ${fileURLToPath(url)}; ${EXTERNAL}, or bundle troupe/renewal/worker to that path`,
  )
}

function missingModule(module: string): Error | undefined {
  const isThere = !module.startsWith("file:") || existsSync(new URL(module))
  return isThere
    ? undefined
    : new Error(
        `the module by which a thread opens the store is not at ${fileURLToPath(module)}; ${EXTERNAL}`,
      )
}

const EXTERNAL = "keep troupe external (with esbuild: --packages=external)"

/** How long a stop waits for the thread to close its store. */
const CLOSE_MS = 3_000
/** How long the end of the process does. */
const EXIT_MS = 1_000
