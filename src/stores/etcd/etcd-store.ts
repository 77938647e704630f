import { StoreUnavailableError } from "../../errors/store-errors.js"
import type { Ports } from "../../ports/ports.js"
import type {
  ClusterStore,
  Commit,
  CommitResult,
  Entry,
  Listing,
  ListOptions,
  Moment,
  Sight,
  StoreProvider,
  StoreWatch,
  StoreWatcher,
} from "../../ports/store.js"
import { CommitOrder } from "../commit-order.js"
import { goesFirst, isOfNodes } from "../lane.js"
import { MAX_PAGE, NamespacedStore } from "../namespaced-store.js"
import { isWatched } from "../watched-keys.js"
import { CommitBatching, CommitRequest } from "./commit-batch.js"
import { EtcdLink, type LinkOptions } from "./etcd-link.js"
import { type EtcdStoreOptions, linkOptions } from "./etcd-options.js"
import { EtcdWatches, endOf } from "./etcd-watches.js"
import type { RangeOptions } from "./messages.js"
import { failureOf, unavailable } from "./problem.js"
import { type RangeResult, ReadBatching, ReadRequest } from "./read-batch.js"
import { RequestLane } from "./request-lane.js"

/**
 * Creates a store in etcd, for nodes on any number of hosts. etcd is made for coordination and for small
 * states: every change is flushed by a majority of its members, and all of it has to fit into some gigabytes.
 *
 * @example
 * import { ActorSystem } from "troupe"
 * import { etcdStore } from "troupe/etcd"
 *
 * const system = await ActorSystem.start({
 *   namespace: "prod",
 *   listen: { host: "10.0.0.5", port: 25520 },
 *   store: etcdStore({ endpoints: ["10.0.0.1:2379", "10.0.0.2:2379", "10.0.0.3:2379"] }),
 * })
 */
export function etcdStore(options: EtcdStoreOptions): StoreProvider {
  const checked = linkOptions(options)
  return {
    open: async (namespace, ports) => new NamespacedStore(await EtcdStore.open(checked, ports), namespace),
    inThread: { module: new URL("./in-thread.js", import.meta.url).href, options },
  }
}

class EtcdStore implements ClusterStore {
  readonly identity: string
  readonly #link: EtcdLink
  readonly #options: LinkOptions
  readonly #ports: Ports
  readonly #watches: EtcdWatches
  readonly #commits: Lanes<CommitRequest>
  readonly #reads: Lanes<ReadRequest>
  /** Requests that consist of several reads or commits, one after the other. */
  readonly #inSteps = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  static async open(options: LinkOptions, ports: Ports): Promise<EtcdStore> {
    const link = new EtcdLink(options, ports)
    try {
      await link.ready()
    } catch (error) {
      link.close()
      throw unavailable(failureOf(error, options.endpoints.join(", ")), "not-committed")
    }
    return new EtcdStore(link, options, ports)
  }

  private constructor(link: EtcdLink, options: LinkOptions, ports: Ports) {
    const { prefix, timeoutMs } = options
    const { identity, recordKey } = link.history
    this.identity = `etcd-${identity}`
    this.#link = link
    this.#options = options
    this.#ports = ports
    this.#watches = new EtcdWatches(link, prefix)
    link.follow(this.#watches)
    const patienceMs = timeoutMs * PATIENCE
    const isAlone = options.endpoints.length === 1
    const first = { maxInFlight: Infinity, timeoutMs, patienceMs }
    const others = { maxInFlight: MAX_IN_FLIGHT, timeoutMs, patienceMs: isAlone ? timeoutMs : patienceMs }
    const commitLane = (limits: typeof first) => {
      const batching = new CommitBatching(prefix, recordKey)
      const order = new CommitOrder<CommitRequest>((commit) => commit)
      return new RequestLane(link, ports, { batching, order, ...limits })
    }
    const readLane = (limits: typeof first) =>
      new RequestLane(link, ports, { batching: new ReadBatching(prefix, recordKey), ...limits })
    this.#commits = { first: commitLane(first), others: commitLane(others) }
    this.#reads = { first: readLane(first), others: readLane(others) }
  }

  async get(key: string): Promise<Sight> {
    this.#checkOpen()
    const { epoch, revision, entries } = await this.#read(key, isOfNodes(key))
    const [entry] = entries
    return entry === undefined ? { epoch, entry, absentAt: revision } : { epoch, entry }
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Listing> {
    this.#checkOpen()
    return this.#unbroken(this.#page(prefix, options))
  }

  async commit(commit: Commit): Promise<CommitResult> {
    this.#checkOpen()
    const isFirst = goesFirst(commit)
    if (!isFirst) this.#checkRoom()
    const { history } = this.#link
    if (commit.epoch !== history.epoch.id) return this.#unbroken(this.#commitOfAnotherEpoch(commit))
    return this.#enqueue(commit, isFirst)
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    this.#checkOpen()
    return { cancel: this.#watches.add(prefix, from, watcher) }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /**
   * etcd limits a range by the number of its keys, not by their bytes. Where values may be large, a few keys
   * are read first, and then as many as probably fill the page. The moment is that of the first read.
   */
  async #page(
    prefix: string,
    { after = "", limit = MAX_PAGE, keysOnly = false }: ListOptions,
  ): Promise<Listing> {
    const entries: Entry[] = []
    const dueAt = this.#dueAt()
    const isFirst = isOfNodes(prefix)
    const end = this.#options.prefix + endOf(prefix)
    const read = (from: string, count: number) => this.#read(from, isFirst, { end, limit: count, keysOnly })
    const few = keysOnly || isWatched(prefix) ? limit : Math.min(limit, FEW_KEYS)
    let page = await read(after < prefix ? prefix : `${after}\0`, few)
    const { epoch, revision } = page
    for (let bytes = 0; ; ) {
      for (const entry of page.entries) {
        entries.push(entry)
        bytes += entry.key.length + entry.value.length
      }
      const room = limit - entries.length
      if (!page.more || room === 0 || bytes >= PAGE_BYTES) {
        return { epoch, revision, entries, more: page.more }
      }
      const count = Math.floor(((PAGE_BYTES - bytes) * entries.length) / bytes)
      const next = read(`${entries.at(-1)?.key}\0`, Math.min(room, Math.max(1, count)))
      const more = await this.#before(dueAt, next)
      if (more?.epoch !== epoch) return { epoch, revision, entries, more: true }
      page = more
    }
  }

  /** Returns the answer to a read that can be left out: undefined if it fails, or comes too late. */
  #before<T>(dueAt: number, read: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const { clock } = this.#ports
      const timer = clock.setTimer(dueAt - clock.monotonicMs(), () => resolve(undefined))
      const settle = (answer: T | undefined) => {
        timer.cancel()
        resolve(answer)
      }
      read.then(settle, () => settle(undefined))
    })
  }

  /** Keeps the store open until a request has taken its last step. */
  async #unbroken<T>(request: Promise<T>): Promise<T> {
    this.#inSteps.add(request)
    try {
      return await request
    } finally {
      this.#inSteps.delete(request)
    }
  }

  #enqueue(commit: Commit, isFirst: boolean): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      const { base } = this.#link.history.epoch
      const place = { base, prefix: this.#options.prefix, dueAt: this.#dueAt() }
      const request = new CommitRequest(commit, place, resolve, reject)
      ;(isFirst ? this.#commits.first : this.#commits.others).add(request)
    })
  }

  /** The epoch may be one that began since this handle last looked. */
  async #commitOfAnotherEpoch(commit: Commit): Promise<CommitResult> {
    const writes = commit.writes.map((write) =>
      write.kind === "put" ? { ...write, value: new Uint8Array(write.value) } : write,
    )
    const { epoch } = await this.#read("", false)
    if (epoch !== commit.epoch) return { kind: "epoch-changed", epoch }
    return this.#enqueue({ ...commit, writes }, goesFirst(commit))
  }

  #read(key: string, isFirst: boolean, options: RangeOptions = {}): Promise<RangeResult> {
    return new Promise((resolve, reject) => {
      if (!isFirst) this.#checkRoom()
      const request = new ReadRequest(
        { key: this.#options.prefix + key, options, dueAt: this.#dueAt() },
        resolve,
        reject,
      )
      ;(isFirst ? this.#reads.first : this.#reads.others).add(request)
    })
  }

  #dueAt(): number {
    return this.#ports.clock.monotonicMs() + this.#options.timeoutMs
  }

  async #close(): Promise<void> {
    this.#watches.clear()
    await Promise.allSettled(this.#inSteps)
    const lanes = [this.#commits.first, this.#commits.others, this.#reads.first, this.#reads.others]
    await Promise.all(lanes.map((lane) => lane.empty()))
    this.#link.close()
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) {
      throw new StoreUnavailableError("the store has been closed", "not-committed", { problem: "closed" })
    }
  }

  #checkRoom(): void {
    if (this.#commits.others.size + this.#reads.others.size < MAX_PENDING) return
    throw new StoreUnavailableError(
      `the store has ${MAX_PENDING} requests in flight; wait for some of them first`,
      "not-committed",
      { problem: "overloaded" },
    )
  }
}

/** Requests for leases and node records, and all others. */
interface Lanes<R extends CommitRequest | ReadRequest> {
  readonly first: RequestLane<R>
  readonly others: RequestLane<R>
}

const MAX_PENDING = 100_000

/**
 * The share of the timeout that an answer is waited for. A commit that a member passed on to a leader that
 * fails is lost, and never answered. The renewal of a lease must not wait for that until the lease has ended,
 * nor others until all that may be in flight are lost: their owners read, and commit again. A single server
 * loses nothing unless its connection breaks, so only renewals are given up early there.
 */
const PATIENCE = 0.4

/**
 * With one transaction in flight the server idles while the answer travels; with many, the requests of a tick
 * are spread over more of them.
 */
const MAX_IN_FLIGHT = 4

/** How many values of unknown size are read at once. */
const FEW_KEYS = 16
const PAGE_BYTES = 1024 * 1024
