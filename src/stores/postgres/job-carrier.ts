import type { CommitResult, Entry, Listing, ListOptions, Sight } from "../../ports/store.js"
import { textArray } from "./binary-array.js"
import type { ChangeFeed } from "./change-feed.js"
import type { Carrier } from "./connection-lane.js"
import type { Row } from "./driver.js"
import type { EpochKeeper } from "./epoch-keeper.js"
import type { Job } from "./lane-work.js"
import type { OpenRequest, OpenRequests } from "./open-requests.js"
import type { StoreSettings } from "./options.js"
import { unavailable } from "./problem.js"
import { bytesOf, headOf } from "./rows.js"
import type { Session } from "./session.js"

interface CarrierDependencies {
  readonly settings: StoreSettings
  readonly epochs: EpochKeeper
  readonly feed: ChangeFeed
  readonly open: OpenRequests
}

/** Sends requests to the server, and answers them. */
export class JobCarrier implements Carrier {
  readonly #epochs: EpochKeeper
  readonly #feed: ChangeFeed
  readonly #open: OpenRequests
  readonly #lockMs: number

  constructor({ settings, epochs, feed, open }: CarrierDependencies) {
    this.#epochs = epochs
    this.#feed = feed
    this.#open = open
    // The server gives up before the caller does, so that it is known that nothing was committed.
    this.#lockMs = Math.ceil(settings.timeoutMs * 0.8)
  }

  openSession(): Promise<Session> {
    return this.#epochs.openSession()
  }

  async carryOut(session: Session, job: Job): Promise<"done" | "again"> {
    try {
      await this.#answer(session, job)
      return "done"
    } catch (error) {
      // A read can be made again on another connection, a commit may have been made.
      if (!session.isOpen && job.kind !== "commit") return "again"
      const failure = unavailable(error, session.place, job.kind === "commit")
      for (const request of requestsOf(job)) this.#open.reject(request, failure)
      return "done"
    }
  }

  async #answer(session: Session, job: Job): Promise<void> {
    switch (job.kind) {
      case "commit":
        return this.#commit(session, job)
      case "get":
        return this.#get(session, job)
      case "single":
        return this.#open.answer(job.request, await job.request.subject(session))
    }
  }

  async list(session: Session, prefix: string, options: ListOptions): Promise<Listing> {
    const { after, limit = 1_000, keysOnly = false } = options
    const { memory } = this.#epochs
    const rows = await this.#epochs.ask(session, memory.epoch, "list_1", [
      memory.known,
      this.#epochs.foreign.ids,
      // Keys contain no character as low, or as high, as these.
      after === undefined || after < prefix ? prefix : `${after} `,
      `${prefix}\x7f`,
      limit,
      keysOnly ? 0 : PAGE_BYTES,
    ])
    const { epoch, revision, horizon } = headOf(rows)
    const entries = rows.slice(1, limit + 1).map(entryOf)
    const keys = Number(rows[1]?.[4] ?? 0)
    let seen = 0
    for (const entry of entries) seen = Math.max(seen, entry.revision)
    memory.saw(epoch, seen)
    return {
      epoch,
      revision: Math.max(revision, Math.min(seen, horizon)),
      entries,
      more: entries.length < keys,
    }
  }

  async #get(session: Session, { requests }: Extract<Job, { kind: "get" }>): Promise<void> {
    const keys = textArray(requests.map(({ subject }) => subject))
    const rows = await this.#epochs.ask(session, this.#epochs.memory.epoch, "get_1", [keys])
    const { epoch } = headOf(rows)
    for (const [index, request] of requests.entries()) {
      const row = rows[index + 1] as Row
      this.#epochs.memory.saw(epoch, Number(row[6]))
      this.#open.answer(request, sightOf(epoch, request.subject, row))
    }
  }

  async #commit(session: Session, { batch, requests }: Extract<Job, { kind: "commit" }>): Promise<void> {
    const rows = await this.#epochs.ask(session, batch.epoch, "commit_2", [this.#lockMs, ...batch.values])
    const head = headOf(rows)
    const results = batch.results(head, rows.slice(1))
    // The revision of a transaction that changed nothing may be assigned again.
    if (head.n > 0) this.#epochs.memory.saw(head.epoch, head.revision + requests.length - 1)
    const witness = batch.witnessOf(results)
    if (witness !== undefined) this.#epochs.memory.committed(head.epoch, witness)
    for (const [index, request] of requests.entries())
      this.#open.answer(request, results[index] as CommitResult)
    if (batch.logged > 0) this.#feed.committed(batch.logged, batch.isWatched)
  }
}

/** About the most that the values of a page have. */
const PAGE_BYTES = 1024 * 1024

function entryOf([, , , , , key, revision, value]: Row): Entry {
  return {
    key: key as string,
    revision: Number(revision),
    value: value === null ? new Uint8Array() : bytesOf(value),
  }
}

function sightOf(epoch: string, key: string, [, , , , , , revision, value]: Row): Sight {
  if (value === null) return { epoch, entry: undefined, absentAt: Number(revision) }
  return { epoch, entry: { key, revision: Number(revision), value: bytesOf(value) } }
}

function requestsOf(job: Job): readonly OpenRequest<unknown, never>[] {
  return job.kind === "single" ? [job.request] : job.requests
}
