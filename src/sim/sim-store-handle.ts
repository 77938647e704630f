import { StoreUnavailableError } from "../errors/store-errors.js"
import type {
  ClusterStore,
  Commit,
  CommitResult,
  Listing,
  ListOptions,
  Moment,
  Sight,
  StoreWatch,
  StoreWatcher,
} from "../ports/store.js"
import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"
import type { SimStore } from "./sim-store.js"
import { SimStoreLine } from "./sim-store-line.js"
import { type AskedOfStore, SimStoreRequest } from "./sim-store-request.js"
import type { SimStoreServer } from "./sim-store-server.js"
import { SimStoreWatch } from "./sim-store-watch.js"

/** The handle of one process on a store. */
export class SimStoreHandle implements ClusterStore {
  readonly identity: string
  readonly process: SimProcess
  readonly answers: SimStoreLine
  /** Undefined if the store takes no time for requests. */
  readonly server: SimStoreServer | undefined
  readonly #store: SimStore
  readonly #timeoutMicros: SimMicros
  readonly #watches = new Set<SimStoreWatch>()
  readonly #underWay = new Set<Promise<unknown>>()
  #diedAt: SimMicros | undefined
  #lastArrivalAt: SimMicros = 0
  #isClosed = false

  constructor(proc: SimProcess, store: SimStore, timeoutMs: number) {
    this.identity = store.state.identity
    this.process = proc
    this.#store = store
    this.#timeoutMicros = Math.ceil(timeoutMs * 1000)
    this.answers = new SimStoreLine(proc, "store answer", () => store.isCutOff(proc.machine.name))
    this.server = store.serverFor()
    store.attach(this)
    proc.onDeath(() => {
      this.#diedAt = proc.world.now
      store.detach(this)
    })
  }

  /** Contacts the store for the first time. */
  open(): Promise<void> {
    return this.#ask("open", { bytes: 0, keys: [], serve: () => {} })
  }

  get(key: string): Promise<Sight> {
    const serve = () => this.#store.get(key)
    return this.#ask(`get ${key}`, { bytes: key.length, keys: [key], serve })
  }

  list(prefix: string, options: ListOptions): Promise<Listing> {
    const serve = () => this.#store.page(prefix, options)
    return this.#ask(`list ${prefix}`, { bytes: prefix.length, keys: [prefix], serve })
  }

  commit(commit: Commit): Promise<CommitResult> {
    const taken = copied(commit)
    const what = taken.writes.map(({ kind, key }) => `${kind} ${key}`).join(", ")
    const keys = taken.writes.map(({ key }) => key)
    return this.#ask(`commit ${what}`, { bytes: sizeOf(taken), keys, commit: taken })
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    this.process.enterCall("store.watch")
    if (this.#isClosed) throw closed()
    const { epoch, revision } = from
    const watch = new SimStoreWatch(this.process, this.#store, {
      prefix,
      from: { epoch, revision },
      watcher,
    })
    this.#watches.add(watch)
    this.#store.addWatch(watch, this.process.now + this.process.world.latency(prefix.length))
    return watch
  }

  async close(): Promise<void> {
    this.process.enterCall("store.close")
    this.#isClosed = true
    for (const watch of this.#watches) watch.cancel()
    this.#watches.clear()
    await Promise.allSettled(this.#underWay)
    this.#store.detach(this)
  }

  /**
   * Returns the time at which a request that would arrive at `at` does arrive: requests keep the order of the
   * calls, and no two arrive at one instant.
   */
  arrivalAt(at: SimMicros): SimMicros {
    this.#lastArrivalAt = Math.max(this.#lastArrivalAt + 1, Math.ceil(at))
    return this.#lastArrivalAt
  }

  #ask<Answer>(what: string, asked: Asked<Answer>): Promise<Answer> {
    this.process.enterCall(`store.${what}`)
    if (this.#isClosed) return Promise.reject(closed())
    const request = new SimStoreRequest<Answer>(
      this.process,
      { ...asked, what, timeoutMicros: this.#timeoutMicros, diedAt: () => this.#diedAt },
      this.answers,
    )
    this.#store.send(this, request as SimStoreRequest)
    const { answered } = request
    this.#underWay.add(answered)
    const done = () => this.#underWay.delete(answered)
    answered.then(done, done)
    return answered
  }
}

type Asked<Answer> = Pick<AskedOfStore<Answer>, "bytes" | "keys" | "serve" | "commit">

/** Copies the commit, so that later changes by the caller have no effect. */
function copied({ epoch, conditions, writes, reads }: Commit): Commit {
  return {
    epoch,
    conditions: [...conditions],
    reads: reads && [...reads],
    writes: writes.map((write) =>
      write.kind === "put" ? { ...write, value: new Uint8Array(write.value) } : write,
    ),
  }
}

function sizeOf({ writes }: Commit): number {
  return writes.reduce((sum, write) => sum + (write.kind === "put" ? write.value.length : 0), 0)
}

function closed(): StoreUnavailableError {
  return new StoreUnavailableError("the store has been closed", "not-committed")
}
