import { randomUUID } from "node:crypto"
import type { Logger } from "../../ports/logger.js"
import type { Change, Moment, StoreWatcher } from "../../ports/store.js"
import { Backoff } from "./backoff.js"
import type { Row } from "./driver.js"
import type { EpochKeeper } from "./epoch-keeper.js"
import { FeedWatches } from "./feed-watches.js"
import type { StoreSettings } from "./options.js"
import { bytesOf, headOf } from "./rows.js"
import type { Session } from "./session.js"
import type { StoreSchema } from "./store-schema.js"

interface FeedDependencies {
  readonly schema: StoreSchema
  readonly settings: StoreSettings
  readonly epochs: EpochKeeper
  readonly logger: Logger
}

/**
 * Reads the changes that watches wait for, notifies other processes of ours, and trims the log; all on one
 * connection of its own, one after the other.
 *
 * A notification is a hint to read now, and a lost one costs a poll. It is sent after the commit, not in it:
 * `NOTIFY` takes a lock of the whole server at the end of its transaction, and commits would wait for each
 * other there. While one is in flight, later commits share the next.
 *
 * The reader reads up to the oldest transaction in progress, which may be foreign and go on for long: see
 * `foreign-transactions.ts`.
 */
export class ChangeFeed {
  readonly #schema: StoreSchema
  readonly #settings: StoreSettings
  readonly #epochs: EpochKeeper
  readonly #logger: Logger
  /** By which this handle knows its own notifications. */
  readonly #name = randomUUID()
  readonly #watches = new FeedWatches()
  readonly #backoff = new Backoff()
  #session: Session | undefined
  #isRunning: Promise<void> | undefined
  #isStopped = false
  #hasNews = false
  #mustNotify = false
  /** Changes and deletions of this process that may have to be trimmed. */
  #untrimmed = 0
  #nextTrimAt = performance.now() + TRIM_MS * Math.random()
  #nextReadAt = 0
  #quickReads = 0
  /** The transaction that holds the horizon back, and since when. */
  #held: { readonly key: string; readonly since: number } | undefined
  #wake: () => void = () => {}

  constructor({ schema, settings, epochs, logger }: FeedDependencies) {
    this.#schema = schema
    this.#settings = settings
    this.#epochs = epochs
    this.#logger = logger
  }

  /** Returns the function that ends the watch. */
  watch(prefix: string, from: Moment, watcher: StoreWatcher): () => void {
    const cancel = this.#watches.add(prefix, from, watcher)
    this.#news()
    return cancel
  }

  /** Called after each batch with changes that have to be trimmed some day, or that others may watch. */
  committed(logged: number, isWatched: boolean): void {
    if (this.#isStopped) return
    this.#untrimmed += logged
    if (isWatched) {
      this.#mustNotify = true
      this.#news()
    } else if (this.#mustTrim) this.#news()
  }

  /** Ends all watches, and whatever else is not in flight. */
  stop(): void {
    this.#isStopped = true
    this.#watches.clear()
    this.#backoff.cancel()
    this.#wake()
  }

  async close(): Promise<void> {
    await this.#isRunning
    await this.#session?.close()
  }

  get #mustTrim(): boolean {
    return this.#untrimmed > this.#settings.keptChanges / 4
  }

  get #hasWork(): boolean {
    return !this.#isStopped && (this.#watches.size > 0 || this.#mustNotify || this.#mustTrim)
  }

  #news(): void {
    this.#hasNews = true
    this.#isRunning ??= this.#run()
    this.#wake()
  }

  async #run(): Promise<void> {
    while (this.#hasWork) {
      try {
        if (this.#session?.isOpen !== true) this.#session = await this.#connect()
        await this.#work(this.#session)
        this.#backoff.reset()
      } catch {
        // Requests report why the server cannot be reached. Watches go on where they were.
        if (this.#session?.isOpen !== true) this.#session = undefined
        await this.#backoff.pause()
        continue
      }
      if (this.#hasWork) await this.#pause()
    }
    this.#isRunning = undefined
  }

  async #work(session: Session): Promise<void> {
    if (this.#mustNotify) {
      this.#mustNotify = false
      await session.run("SELECT pg_notify($1, $2)", [this.#schema.channel, this.#name])
    }
    if (this.#mustTrim || performance.now() > this.#nextTrimAt) {
      this.#untrimmed = 0
      this.#nextTrimAt = performance.now() + TRIM_MS * (0.5 + Math.random())
      await session.run(`SELECT ${this.#schema.name}.maintain_1($1)`, [Math.ceil(this.#settings.keptChanges)])
    }
    if (this.#watches.size === 0 || (!this.#hasNews && performance.now() < this.#nextReadAt)) return
    if (this.#hasNews) this.#quickReads = QUICK_READS
    this.#hasNews = false
    await this.#read(session)
  }

  async #read(session: Session): Promise<void> {
    const { memory, foreign } = this.#epochs
    const rows = await this.#epochs.ask(session, memory.epoch, "changes_1", [
      memory.known,
      foreign.ids,
      this.#watches.after,
      MOST_CHANGES,
    ])
    const { epoch, horizon, n: begins, key: held, revision } = headOf(rows)
    const commits = commitsOf(rows)
    const isCut = rows.length > MOST_CHANGES
    // The last commit may not be whole.
    if (isCut) commits.pop()
    const through = isCut ? (commits.at(-1)?.[0]?.revision ?? 0) : revision
    this.#watches.tell(commits, { epoch, begins, through, last: held === undefined ? horizon : undefined })
    if (isCut) this.#hasNews = true
    await this.#passHolders(session, held)
    this.#nextReadAt = performance.now() + this.#pauseAfter(session, held !== undefined)
  }

  /** While a transaction is in the way of news, the reader looks soon whether it has ended. */
  #pauseAfter({ isPooled }: Session, isHeld: boolean): number {
    if (isHeld && this.#quickReads > 0) {
      this.#quickReads -= 1
      return HELD_POLL_MS
    }
    const { pollMs } = this.#settings
    return isPooled ? Math.min(pollMs, POOLED_POLL_MS) : pollMs
  }

  /** Finds out whether a transaction that holds the horizon back for long is foreign. */
  async #passHolders(session: Session, key: string | undefined): Promise<void> {
    const now = performance.now()
    if (key === undefined) this.#held = undefined
    else if (this.#held?.key !== key) this.#held = { key, since: now }
    else if (now - this.#held.since > HELD_MS) {
      this.#held = undefined
      if (await this.#epochs.foreign.find(session, key)) this.#hasNews = true
    }
  }

  async #connect(): Promise<Session> {
    const session = await this.#epochs.openSession()
    this.#hasNews = true
    if (session.isPooled) {
      this.#logger.log("info", "the store is behind a connection pooler: watches poll for changes", {
        store: session.place,
      })
      return session
    }
    session.onNotified((sender) => {
      if (sender === this.#name) return
      this.#hasNews = true
      this.#wake()
    })
    await session.run(`LISTEN ${this.#schema.channel}`)
    return session
  }

  /** Waits until there is something to do. Does not keep the process alive. */
  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, LEAST_PAUSE_MS).unref())
    const restMs = this.#nextReadAt - performance.now()
    if (this.#hasNews || this.#mustNotify || this.#mustTrim || !this.#hasWork || restMs <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, restMs).unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = () => {}
  }
}

/** Notifications in this time lead to one read. */
const LEAST_PAUSE_MS = 5
/** How soon the reader looks again whether a transaction has ended. */
const HELD_POLL_MS = 20
/** For as long as it takes to find out whether it is foreign, and no longer: others may always be there. */
const QUICK_READS = 15
/** Commits take less, unless the server is slow. */
const HELD_MS = 200
const POOLED_POLL_MS = 50
/** About how often a process with watches trims, if it commits little. */
const TRIM_MS = 300_000
/** A commit has at most 128 changes. */
const MOST_CHANGES = 2_000

/** The rows after the first one, those of one commit together. */
function commitsOf(rows: readonly Row[]): Change[][] {
  const commits: Change[][] = []
  for (let index = 1; index < rows.length; index += 1) {
    const [, , , , , key, revision, value] = rows[index] as Row
    const change: Change = {
      key: key as string,
      revision: Number(revision),
      value: value === null ? undefined : bytesOf(value),
    }
    const last = commits.at(-1)
    if (last?.[0]?.revision === change.revision) last.push(change)
    else commits.push([change])
  }
  return commits
}
