import type {
  Commit,
  CommitResult,
  Listing,
  ListOptions,
  Moment,
  Revision,
  Sight,
  StoreProvider,
} from "../ports/store.js"
import { MAX_PAGE, NamespacedStore } from "../stores/namespaced-store.js"
import { type KeptLog, StoreState } from "../stores/store-state.js"
import type { SimMicros } from "./agenda.js"
import type { FaultKind } from "./faults.js"
import { type CommitOrder, SimStoreCommits } from "./sim-store-commits.js"
import { SimStoreHandle } from "./sim-store-handle.js"
import type { SimStoreRequest } from "./sim-store-request.js"
import { SimStoreServer, type StoreService } from "./sim-store-server.js"
import type { SimStoreWatch } from "./sim-store-watch.js"
import { SIMULATED, type SimInThread } from "./sim-threads.js"
import type { Life, World } from "./world.js"

/**
 * A store outside all machines, which survives their crashes. Each process opens it through `provider`.
 *
 * A request takes time to arrive and its answer takes time to return. The requests of one handle arrive in
 * the order of the calls, and the store handles each in a step of its own, so each is a single moment in the
 * order of the world. A store with a `StoreService` also takes time for each request, and serves those of one
 * process one after another. The order of its commits is that of `SimStoreCommits`.
 *
 * A request may be refused, delayed, or lost; its answer may be lost; or it may arrive long after the client
 * has given up, out of order and possibly after the death of its process. A machine may be cut off from the
 * store for a while: half of what it sends is lost and the rest arrives when the cut heals. The whole store
 * may hang, and it may be set back to an earlier moment, which begins a new epoch. Watches may lag behind
 * reads, as if a transaction of somebody else took long.
 */
export class SimStore {
  /** The contents of the store, for the simulator. */
  readonly state: StoreState
  /** The name of the store. */
  readonly name: string
  readonly #world: World
  readonly #handles = new Set<SimStoreHandle>()
  readonly #watches = new Set<SimStoreWatch>()
  readonly #observers: ((event: SimStoreEvent) => void)[] = []
  readonly #cuts = new Map<string, Set<object>>()
  /** Requests that arrived while the store hangs, or whose machine is cut off. */
  #held: SimStoreRequest[] = []
  readonly #service: StoreService | undefined
  readonly #commits: SimStoreCommits
  readonly #pageEntries: number
  /** Commits that are visible, and that watches have not been notified of. */
  #unreported: { readonly revision: Revision; readonly keys: readonly string[] }[] = []
  #reported: Moment
  readonly #lags = new Set<() => void>()
  readonly #planned = new Map<string, RequestFault[]>()
  #hangsUntil: SimMicros | undefined
  #epochs = 1

  constructor(world: World, name: string, { kept, service, order, pageEntries }: SimStoreSettings = {}) {
    this.#world = world
    this.name = name
    this.#service = service
    this.#pageEntries = pageEntries ?? MAX_PAGE
    this.state = new StoreState(`simulated-${name}`, "epoch-1", { commits: 1_000, undo: true, ...kept })
    this.#reported = this.state.moment
    this.#commits = new SimStoreCommits(world, this.state, order ?? "ordered", () => this.#report())
    world.addStore(this)
  }

  /** Returns the provider with which the process of a life opens the store. */
  provider(life: Life, options: SimStoreOptions = {}): StoreProvider {
    const proc = this.#world.processOf(life)
    return {
      open: async (namespace) => {
        const handle = new SimStoreHandle(proc, this, options.timeoutMs ?? 3_000)
        const store = new NamespacedStore(handle, namespace)
        await handle.open()
        return store
      },
      inThread: {
        module: SIMULATED,
        options: { provider: (life) => this.provider(life, options) } satisfies SimInThread,
      },
    }
  }

  /** Returns the true contents at this moment; keys include their namespace. */
  list(prefix = ""): Listing {
    return this.state.list(prefix)
  }

  /** Reads a key as a client does; for the simulator. */
  get(key: string): Sight {
    const sight = this.state.get(key)
    return sight.entry === undefined ? { ...sight, absentAt: this.#commits.absentAt(key) } : sight
  }

  /** Reads a page as a client does; for the simulator. */
  page(prefix: string, options: ListOptions): Listing {
    const limit = Math.min(options.limit ?? MAX_PAGE, this.#pageEntries)
    return { ...this.state.list(prefix, { ...options, limit }), ...this.#commits.listed }
  }

  /** All commits up to this moment can be reported to watches; for the simulator. */
  get settled(): Moment {
    return this.#commits.settled
  }

  /**
   * Notifies the observer of every commit, at the moment at which it takes effect or is refused, and of every
   * cut of history. Keys include their namespace.
   */
  observe(observer: (event: SimStoreEvent) => void): void {
    this.#observers.push(observer)
  }

  /** The next request of that machine meets this fault, whatever the seed draws. */
  strikeNext(machine: string, fault: RequestFault): void {
    this.#planned.set(machine, [...(this.#planned.get(machine) ?? []), fault])
  }

  /** Cuts all traffic between that machine and the store until the returned function is called. */
  cutOff(machine: string): () => void {
    const own = {}
    const cuts = this.#cuts.get(machine) ?? new Set()
    this.#cuts.set(machine, cuts.add(own))
    return () => {
      if (!cuts.delete(own) || cuts.size > 0 || this.#cuts.get(machine) !== cuts) return
      this.#cuts.delete(machine)
      this.#healed(machine)
    }
  }

  /** Returns whether that machine is cut off from the store. */
  isCutOff(machine: string): boolean {
    return this.#cuts.has(machine)
  }

  /** Stops serving requests for a while. Requests that arrive meanwhile are served afterwards. */
  hang(ms: number): void {
    const until = this.#world.now + Math.ceil(ms * 1000)
    this.#hangsUntil = Math.max(this.#hangsUntil ?? 0, until)
    this.#world.schedule(until, undefined, "store goes on", () => {
      if (this.#hangsUntil !== undefined && this.#hangsUntil <= this.#world.now) this.resume()
    })
  }

  /** Whether the store hangs. */
  get isHanging(): boolean {
    return this.#hangsUntil !== undefined
  }

  /**
   * Makes all watches lag: they are notified of nothing that happens from now on until the returned function
   * is called, or the world is calm. Reads show it.
   */
  lag(): () => void {
    const end = this.#commits.hold()
    const over = () => {
      this.#lags.delete(over)
      end()
    }
    this.#lags.add(over)
    return over
  }

  /** Ends a hang, and all lags. */
  resume(): void {
    this.#hangsUntil = undefined
    for (const end of [...this.#lags]) end()
    this.#serveHeld()
    this.#wakeWatches()
  }

  /** Discards the last commits, as far as they are known, and begins a new epoch. */
  cutHistory(commits: number): void {
    const { state } = this
    this.#epochs += 1
    const lost = Math.min(commits, state.knownCommits)
    state.rewind(lost, `epoch-${this.#epochs}`)
    if (lost > 0) this.#world.lostHistory.push(this.#lossText(lost))
    this.#tell({ kind: "cut", ...state.moment })
    this.#commits.abort()
    this.#unreported = []
    this.#reported = this.settled
    this.#wakeWatches()
  }

  #lossText(commits: number): string {
    const lost = commits === 1 ? "its last commit" : `its last ${commits} commits`
    return `at ${this.#world.now / 1000} ms the store "${this.name}" was restored to an earlier state (store-epoch) and lost ${lost}`
  }

  /** Ends all cuts. */
  heal(): void {
    const machines = [...this.#cuts.keys()]
    this.#cuts.clear()
    for (const machine of machines) this.#healed(machine)
  }

  /** Returns the server for the requests of one handle, if requests take time. */
  serverFor(): SimStoreServer | undefined {
    if (this.#service === undefined) return undefined
    return new SimStoreServer(this.#world, this.#service, (request) => this.#serveOrHold(request))
  }

  /** Sends a request; for the simulator. */
  send(handle: SimStoreHandle, request: SimStoreRequest): void {
    const world = this.#world
    const { leavesAt, givenUpAt } = request
    if (this.#strikes(request, "store-lost-request", 0.05)) return
    if (request.commit !== undefined && this.#strikes(request, "store-late-arrival", 0.08)) {
      const at = givenUpAt + Math.ceil(world.random.between(1, 15_000) * 1000)
      return this.#arriveAt(at, handle, request)
    }
    const delayMs = this.#strikes(request, "store-delay", 0.08) ? world.random.between(10, 2_500) : 0
    this.#arriveAt(
      handle.arrivalAt(leavesAt + world.latency(request.bytes) + delayMs * 1000),
      handle,
      request,
    )
  }

  /** Adds a watch; for the simulator. */
  addWatch(watch: SimStoreWatch, at: SimMicros): void {
    this.#watches.add(watch)
    watch.wake(at)
  }

  /** Adds a handle; for the simulator. */
  attach(handle: SimStoreHandle): void {
    this.#handles.add(handle)
  }

  /** Removes a handle; for the simulator. */
  detach(handle: SimStoreHandle): void {
    this.#handles.delete(handle)
  }

  #arriveAt(at: SimMicros, { server }: SimStoreHandle, request: SimStoreRequest): void {
    const { process: proc, what } = request
    this.#world.schedule(at, undefined, `store <- ${proc.name} ${what}`, () => {
      if (request.neverLeft) return
      if (this.isCutOff(proc.machine.name) && this.#world.random.chance(0.5)) return
      if (server === undefined) this.#serveOrHold(request)
      else server.take(request)
    })
  }

  #serveOrHold(request: SimStoreRequest): void {
    if (this.#isHeld(request)) this.#held.push(request)
    else this.#serve(request)
  }

  #isHeld({ process: proc }: SimStoreRequest): boolean {
    return this.isHanging || this.isCutOff(proc.machine.name)
  }

  #serve(request: SimStoreRequest): void {
    const { commit, serve } = request
    if (this.#strikes(request, "store-refusal", 0.1)) return request.refuse()
    if (commit !== undefined) this.#commits.make(commit, (result) => this.#judged(request, commit, result))
    else this.#answer(request, serve?.())
  }

  #judged(request: SimStoreRequest, commit: Commit, result: CommitResult): void {
    const { process: proc } = request
    this.#world.note(undefined, `store commit of ${proc.name} ${resultText(result)}`)
    this.#tell({ kind: "judged", by: proc.processName, commit, result, isLate: request.isAbandoned })
    if (result.kind === "committed") {
      const keys = commit.writes.map(({ key }) => key)
      this.#unreported.push({ revision: result.revision, keys })
    }
    this.#answer(request, result)
  }

  #answer(request: SimStoreRequest, answer: unknown): void {
    if (!this.#strikes(request, "store-lost-answer", 0.05)) request.answer(answer)
  }

  /** Wakes the watches that are concerned by what has been settled since the last time. */
  #report(): void {
    const before = this.#reported
    this.#reported = this.settled
    const { revision } = this.#reported
    const keys = this.#unreported.flatMap((commit) => (commit.revision <= revision ? commit.keys : []))
    this.#unreported = this.#unreported.filter((commit) => commit.revision > revision)
    this.#wakeWatches((watch) => !watch.passesOver(keys, before))
  }

  #tell(event: SimStoreEvent): void {
    for (const observer of this.#observers) observer(event)
  }

  #strikes({ process: proc }: SimStoreRequest, kind: RequestFault, often: number): boolean {
    const planned = this.#planned.get(proc.machine.name)
    if (planned?.[0] !== kind) return this.#world.draw(kind, often)
    planned.shift()
    this.#world.fault(kind, proc.name)
    return true
  }

  #healed(machine: string): void {
    this.#serveHeld()
    for (const { process: proc, answers } of this.#handles) if (proc.machine.name === machine) answers.wake()
    for (const watch of this.#watches) {
      if (watch.process.machine.name === machine) watch.healed(this.#world.random.chance(0.5))
    }
  }

  #serveHeld(): void {
    const held = this.#held
    this.#held = held.filter((request) => this.#isHeld(request))
    for (const request of held) if (!this.#held.includes(request)) this.#serve(request)
  }

  #wakeWatches(isConcerned: (watch: SimStoreWatch) => boolean = () => true): void {
    for (const watch of this.#watches) {
      if (watch.isOver) this.#watches.delete(watch)
      else if (isConcerned(watch)) watch.wake(this.#world.now)
    }
  }
}

/** How a store is made. */
export interface SimStoreSettings {
  readonly kept?: Partial<KeptLog>
  readonly service?: StoreService | undefined
  /** Default `ordered`. */
  readonly order?: CommitOrder | undefined
  /** The most entries of a page. Default 1,000. */
  readonly pageEntries?: number | undefined
}

/** The faults that affect a single request. */
export type RequestFault = Extract<
  FaultKind,
  "store-refusal" | "store-delay" | "store-lost-request" | "store-lost-answer" | "store-late-arrival"
>

/** Options of a process that opens a simulated store. */
export interface SimStoreOptions {
  /** How long a client waits for an answer. Default 3,000. */
  readonly timeoutMs?: number
}

/** A decision about a commit, or a cut of the history. */
export type SimStoreEvent =
  | {
      readonly kind: "judged"
      /** The name of the life that sent the commit. */
      readonly by: string
      readonly commit: Commit
      readonly result: CommitResult
      /** Whether that life has given up on the commit, or is dead. */
      readonly isLate: boolean
    }
  /** The moment from which history continues, in its new epoch. */
  | ({ readonly kind: "cut" } & Moment)

function resultText(result: CommitResult): string {
  return result.kind === "committed" ? `at ${result.revision}` : result.kind
}
