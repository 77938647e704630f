import type { ListOptions, Sight } from "../../ports/store.js"
import { nodeClock } from "../../runtime/node-clock.js"
import { ChangeFeed } from "./change-feed.js"
import { LockBackoff } from "./lock-backoff.js"
import {
  type CommitRequest,
  type Failure,
  packChange,
  packEntry,
  packFailure,
  packResult,
  type Report,
  type Request,
  requestsOf,
  type Turn,
} from "./messages.js"
import { Packing, type Parcel } from "./parcel.js"
import { isBusy, isFull, moved, refusal, unavailable } from "./problem.js"
import { retrying } from "./retrying.js"
import { sleep } from "./sleep.js"
import type { StoreFile } from "./store-file.js"
import { type Task, TaskLane } from "./task-lane.js"

/** The thread that sends requests. */
export interface Counterpart {
  send(parcel: Parcel): void
  /** Returns the next parcel, if one has arrived already. */
  receive(): Parcel | undefined
}

interface ThreadOptions {
  readonly file: string
  /** The maximum time that a request waits for its turn. */
  readonly patienceMs: number
}

/**
 * Serves requests in order, with two exceptions. First, requests that go first overtake all others, and are
 * committed separately, so they wait only for the work in progress; this is why all work that is done at once
 * is bounded, also in bytes. Second, all commits that have arrived once the lock is taken go into one
 * transaction, overtaking reads. Such a read was requested before those commits were answered, so it may see
 * them; but it is never served before a commit that came before it.
 *
 * While it waits for the lock it continues to receive requests, so that a group grows for as long as it has
 * to wait.
 */
export class StoreThread {
  readonly #store: StoreFile
  readonly #counterpart: Counterpart
  readonly #options: ThreadOptions
  readonly #feed = new ChangeFeed()
  readonly #backoff = new LockBackoff()
  readonly #outbox = new Packing<Report>()
  readonly #first = new TaskLane()
  readonly #others = new TaskLane()
  #lastPlace = 0
  /** The revision when the lock was last released; a different one now means that others have committed. */
  #revision: number | undefined
  #checkedAt = Number.NEGATIVE_INFINITY
  /** How long the last transaction took for the lock and for its flush. */
  #fixedMs = 0
  #isLinked = false
  #hasNews = false
  #isClosing = false

  constructor(store: StoreFile, counterpart: Counterpart, options: ThreadOptions) {
    this.#store = store
    this.#counterpart = counterpart
    this.#options = options
  }

  get hasWork(): boolean {
    return this.#first.hasWork || this.#others.hasWork
  }

  get hasWatches(): boolean {
    return !this.#feed.isEmpty
  }

  /** Whether there are changes that watches of this process have not received yet, as far as is known. */
  get hasNews(): boolean {
    return this.#hasNews
  }

  /** Whether it was asked to close, and all earlier requests have been answered. */
  get isClosing(): boolean {
    return this.#isClosing && !this.hasWork
  }

  take(parcel: Parcel): void {
    for (const request of requestsOf(parcel)) {
      this.#lastPlace += 1
      const { isFirst, sinceMs = parcel.sentAtMs } = request as Request & Turn
      const lane = isFirst === true ? this.#first : this.#others
      lane.add({ request, sinceMs, place: this.#lastPlace })
    }
  }

  /**
   * Does the pending work, up to and including one transaction. Throws an error after which the thread cannot
   * continue, once all requests have been answered with it.
   */
  work(): void {
    this.#guarded(() => {
      this.#takeAll()
      this.#checkFiles()
      this.#serveReads(this.#first)
      this.#serveReads(this.#others)
      if (this.#hasCommits) this.#commitGroup()
      if (this.#hasNews) this.#tell()
    })
  }

  /** Notifies watches of new commits in the file, from any process. Returns whether there are more. */
  tell(): boolean {
    return this.#guarded(() => {
      if (now() - this.#checkedAt > CHECK_MS) this.#checkFiles()
      return this.#tell()
    })
  }

  #checkFiles(): void {
    const found = this.#store.files.look()
    if (found === "moved") throw moved(this.#options.file)
    // No process opens it by that name, so no harm is done yet.
    if (found === "linked" && !this.#isLinked) this.#outbox.add({ kind: "linked", id: 0 })
    this.#isLinked = found === "linked"
    this.#checkedAt = now()
  }

  #guarded<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      const failure = packFailure(unavailable(error, this.#options.file))
      this.#fail([...this.#first.takeAll(), ...this.#others.takeAll()], failure)
      this.#outbox.add({ kind: "over", id: 0, failure })
      throw error
    } finally {
      this.#flush()
    }
  }

  #takeAll(): void {
    for (
      let parcel = this.#counterpart.receive();
      parcel !== undefined;
      parcel = this.#counterpart.receive()
    ) {
      this.take(parcel)
    }
  }

  get #hasCommits(): boolean {
    return this.#first.commits.length + this.#others.commits.length > 0
  }

  /** Serves requests that need not wait for a commit, as many as are done at once. */
  #serveReads(lane: TaskLane): void {
    let served = 0
    while (served < READS_AT_ONCE && this.#outbox.length < GROUP_BYTES) {
      const task = lane.nextRead
      if (task === undefined) break
      if (task.request.kind === "get") {
        served += this.#get(lane, READS_AT_ONCE - served)
        continue
      }
      this.#serve(task.request)
      // Removed only now: a read that fails is answered with all the others.
      lane.reads.shift()
      served += 1
    }
    this.#flush()
  }

  /**
   * Serves the reads of keys that are next in one transaction, which takes a fraction of the time of one for
   * each. All of them were requested before it begins. Returns their number.
   */
  #get(lane: TaskLane, atMost: number): number {
    const gets = lane.takeGets(atMost)
    let sights: readonly Sight[] = []
    try {
      sights = this.#retrying(() => this.#store.get(gets.map(({ request }) => request.key)))
    } finally {
      // Those of a transaction that has failed are answered with all the others.
      lane.reads.putBack(gets.slice(sights.length))
    }
    for (const [index, { request }] of gets.slice(0, sights.length).entries()) {
      this.#see(request.id, sights[index] as Sight)
    }
    return sights.length
  }

  #see(id: number, sight: Sight): void {
    const { epoch } = sight
    if (sight.entry === undefined) this.#outbox.add({ kind: "absent", id, epoch, absentAt: sight.absentAt })
    else this.#outbox.add({ kind: "sight", id, epoch, entry: packEntry(sight.entry, this.#outbox) })
  }

  #serve(request: Request): void {
    const { id } = request
    switch (request.kind) {
      case "open":
        return this.#open(id)
      case "renew-epoch":
        return this.#renewEpoch(id)
      case "list":
        return this.#list(id, request.prefix, request.options)
      case "watch":
        this.#hasNews = true
        return this.#feed.add(id, request.prefix, request.from)
      case "cancel":
        return this.#feed.remove(id)
      case "close":
        this.#isClosing = true
    }
  }

  #open(id: number): void {
    const { identity, inode } = this.#store
    this.#outbox.add({ kind: "opened", id, identity, inode })
  }

  #renewEpoch(id: number): void {
    const epoch = this.#retrying(() => this.#store.renewEpoch())
    this.#hasNews = true
    this.#outbox.add({ kind: "renewed", id, epoch })
  }

  #list(id: number, prefix: string, options: ListOptions): void {
    const { entries, ...page } = this.#retrying(() => this.#store.list(prefix, options))
    const packed = entries.map((entry) => packEntry(entry, this.#outbox))
    this.#outbox.add({ kind: "page", id, ...page, entries: packed })
  }

  #commitGroup(): void {
    const beganAt = now()
    if (!this.#lock()) return
    const lockedAt = now()
    const { lane, group } = this.#takeCommits()
    try {
      const results = this.#store.commit(group.map(({ request }) => (request as CommitRequest).commit))
      lane.commits.putBack(group.slice(results.length))
      if (this.#store.isLogged) this.#hasNews = true
      for (const [index, result] of results.entries()) {
        packResult((group[index] as Task).request.id, result, this.#outbox)
        if (result.kind === "committed") this.#revision = result.revision
      }
    } catch (error) {
      this.#fail(group, packFailure(unavailable(error, this.#options.file)))
      if (!isFull(error)) throw error
    } finally {
      this.#backoff.released(now())
      this.#fixedMs = lockedAt - beganAt + this.#store.flushMs
    }
    this.#flush()
  }

  /** Returns false if no commit is left, because all have waited for too long. */
  #lock(): boolean {
    const restMs = this.#backoff.restMs(now())
    if (restMs > 0) sleep(restMs)
    for (let isBusyNow = false; ; ) {
      this.#failImpatient(isBusyNow ? "locked" : "overloaded")
      if (!this.#hasCommits) return false
      try {
        const { revision } = this.#store.lock()
        this.#backoff.took(now())
        if (revision !== this.#revision && this.#revision !== undefined) this.#backoff.sawOthers(now())
        this.#revision = revision
        this.#takeAll()
        return true
      } catch (error) {
        if (!isBusy(error)) throw error
      }
      isBusyNow = true
      sleep(this.#backoff.busy(now(), Math.random()))
      this.#takeAll()
      this.#serveReads(this.#first)
    }
  }

  #takeCommits(): { readonly lane: TaskLane; readonly group: readonly Task[] } {
    const lane = this.#first.commits.length > 0 ? this.#first : this.#others
    const { commits } = lane
    const group: Task[] = []
    let bytes = 0
    for (let task = commits.first; task !== undefined; task = commits.first) {
      bytes += (task.request as CommitRequest).weight
      // A commit that is too large goes by itself.
      if (group.length === GROUP_COMMITS || (bytes > GROUP_BYTES && group.length > 0)) break
      group.push(task)
      commits.shift()
    }
    return { lane, group }
  }

  #failImpatient(problem: "locked" | "overloaded"): void {
    const { file, patienceMs } = this.#options
    const late = [this.#first, this.#others].flatMap(({ commits }) => {
      const tasks: Task[] = []
      for (
        let task = commits.first;
        task !== undefined && task.sinceMs < now() - patienceMs;
        task = commits.first
      ) {
        tasks.push(task)
        commits.shift()
      }
      return tasks
    })
    if (late.length === 0) return
    const message =
      problem === "locked"
        ? `the store ${file} was locked by other processes for ${patienceMs} ms; check whether a process that uses it was stopped in the middle of a commit, or its disk is too slow`
        : `the store ${file} had more work than it could do in ${patienceMs} ms; commit less at once, or check whether its disk is too slow`
    this.#fail(late, packFailure(refusal(problem, message)))
    this.#flush()
  }

  #fail(tasks: readonly Task[], failure: Failure): void {
    for (const { request } of tasks) {
      if (ANSWERED.has(request.kind)) this.#outbox.add({ kind: "failed", id: request.id, failure })
    }
  }

  #tell(): boolean {
    try {
      const { tidings, isBehind } = this.#feed.next(this.#store)
      this.#hasNews = isBehind
      for (const one of tidings) {
        if (one.kind === "gap") this.#outbox.add(one)
        else {
          const commits = one.commits.map((changes) =>
            changes.map((change) => packChange(change, this.#outbox)),
          )
          this.#outbox.add({ ...one, commits })
        }
      }
      return isBehind
    } catch (error) {
      if (isBusy(error)) return true
      throw error
    }
  }

  #retrying<T>(work: () => T): T {
    return retrying(work, this.#options.patienceMs)
  }

  #flush(): void {
    if (this.#outbox.isEmpty) return
    this.#counterpart.send({ ...this.#outbox.take(now()), fixedMs: this.#fixedMs })
  }
}

function now(): number {
  return nodeClock.monotonicMs()
}

const ANSWERED: ReadonlySet<Request["kind"]> = new Set(["open", "renew-epoch", "get", "list", "commit"])

/** The maximum size of one transaction: other processes wait for its end, and so do leases. */
const GROUP_COMMITS = 256
const GROUP_BYTES = 4 * 1024 * 1024

const READS_AT_ONCE = 256

/** How often a store without requests checks whether its files are in place, while there are watches. */
const CHECK_MS = 100
