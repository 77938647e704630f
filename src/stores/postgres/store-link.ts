import { type Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Ports } from "../../ports/ports.js"
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
} from "../../ports/store.js"
import { goesFirst, isOfNodes } from "../lane.js"
import { ChangeFeed } from "./change-feed.js"
import { ConnectionLane } from "./connection-lane.js"
import { EpochKeeper } from "./epoch-keeper.js"
import { JobCarrier } from "./job-carrier.js"
import type { SingleRequest } from "./lane-work.js"
import { type OpenRequest, OpenRequests } from "./open-requests.js"
import type { StoreSettings } from "./options.js"
import { refusal, unavailable } from "./problem.js"
import { Session } from "./session.js"
import { StoreSchema } from "./store-schema.js"

/**
 * A store in a PostgreSQL database, over all namespaces. Requests for leases and node records have a
 * connection of their own, so that they wait for no other request of this process.
 */
export class StoreLink implements ClusterStore {
  readonly #settings: StoreSettings
  readonly #epochs: EpochKeeper
  readonly #open: OpenRequests
  readonly #carrier: JobCarrier
  readonly #first: ConnectionLane
  readonly #ordinary: ConnectionLane
  readonly #feed: ChangeFeed
  #waiting = 0
  #waitingBytes = 0
  #closing: Promise<void> | undefined

  /** Connects, and creates the store if it is missing. Rejects with a `StoreUnavailableError`. */
  static async open(settings: StoreSettings, ports: Ports): Promise<StoreLink> {
    const schema = new StoreSchema(settings.schema)
    const session = await Session.open(schema, settings)
    try {
      const epochs = await EpochKeeper.begin(session, schema, settings, ports)
      return new StoreLink(settings, schema, epochs, session, ports)
    } catch (error) {
      session.cut()
      throw unavailable(error, session.place, false)
    }
  }

  private constructor(
    settings: StoreSettings,
    schema: StoreSchema,
    epochs: EpochKeeper,
    session: Session,
    { scheduler, logger }: Ports,
  ) {
    this.#settings = settings
    this.#epochs = epochs
    this.#open = new OpenRequests(settings.timeoutMs, (commitment) => this.#timeout(commitment))
    const feed = new ChangeFeed({ schema, settings, epochs, logger })
    this.#feed = feed
    this.#carrier = new JobCarrier({ settings, epochs, feed, open: this.#open })
    this.#first = new ConnectionLane(this.#carrier, this.#open, scheduler, 1)
    this.#ordinary = new ConnectionLane(this.#carrier, this.#open, scheduler, settings.maxConnections)
    this.#ordinary.adopt(session)
  }

  get identity(): string {
    return this.#epochs.identity
  }

  get(key: string): Promise<Sight> {
    const lane = isOfNodes(key) ? this.#first : this.#ordinary
    return this.#request<string, Sight>(lane, key, NOTHING, (request) => lane.work.addGet(request))
  }

  list(prefix: string, options: ListOptions = {}): Promise<Listing> {
    const lane = isOfNodes(prefix) ? this.#first : this.#ordinary
    return this.#single(lane, (session) => this.#carrier.list(session, prefix, options))
  }

  commit(commit: Commit): Promise<CommitResult> {
    const lane = goesFirst(commit) ? this.#first : this.#ordinary
    let bytes = 0
    // The caller may change its bytes after the call.
    const writes = commit.writes.map((write) => {
      if (write.kind === "delete") return write
      bytes += write.value.length
      return { ...write, value: new Uint8Array(write.value) }
    })
    const weight = { isCommit: true, bytes }
    return this.#request<Commit, CommitResult>(lane, { ...commit, writes }, weight, (request) =>
      lane.work.addCommit(request),
    )
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    if (this.#closing !== undefined) throw closed()
    return { cancel: this.#feed.watch(prefix, from, watcher) }
  }

  renewEpoch(): Promise<string> {
    return this.#single(this.#ordinary, (session) => this.#epochs.renew(session))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#feed.stop()
    await this.#open.settled()
    await Promise.all([this.#first.close(), this.#ordinary.close(), this.#feed.close()])
  }

  #single<T>(lane: ConnectionLane, run: (session: Session) => Promise<T>): Promise<T> {
    return this.#request<typeof run, T>(lane, run, NOTHING, (request) =>
      lane.work.addSingle(request as unknown as SingleRequest),
    )
  }

  #request<S, T>(
    lane: ConnectionLane,
    subject: S,
    { isCommit, bytes }: Weight,
    add: (request: OpenRequest<S, T>) => void,
  ): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(closed())
    // Those for leases are few, and are never refused.
    if (
      lane === this.#ordinary &&
      (this.#waiting >= MOST_WAITING || this.#waitingBytes > MOST_WAITING_BYTES)
    ) {
      return Promise.reject(this.#overload())
    }
    this.#waiting += 1
    this.#waitingBytes += bytes
    return new Promise<T>((resolve, reject) => {
      const settled = () => {
        this.#waiting -= 1
        this.#waitingBytes -= bytes
      }
      const request = this.#open.add<S, T>(subject, isCommit, {
        resolve: (answer) => {
          settled()
          resolve(answer)
        },
        reject: (error) => {
          settled()
          reject(error)
        },
      })
      add(request)
      lane.wake()
    })
  }

  #timeout(commitment: Commitment): StoreUnavailableError {
    const { place, timeoutMs } = this.#settings
    const problem = this.#ordinary.problem ?? this.#first.problem
    // Why there is no connection says more than that there was no answer.
    if (problem !== undefined) {
      return new StoreUnavailableError(problem.message, commitment, {
        problem: problem.problem,
        cause: problem,
      })
    }
    const advice = "check the server's load, its locks, and the network"
    return new StoreUnavailableError(
      `the store at ${place} did not answer within ${timeoutMs} ms; ${advice}`,
      commitment,
      { problem: "unanswered" },
    )
  }

  #overload(): StoreUnavailableError {
    const what = `${this.#waiting} requests and ${this.#waitingBytes} bytes are in flight`
    return refusal("overloaded", `${what} to the store at ${this.#settings.place}; wait for some of them`)
  }
}

interface Weight {
  readonly isCommit: boolean
  /** The size of the values that are kept until the request is answered. */
  readonly bytes: number
}

const NOTHING: Weight = { isCommit: false, bytes: 0 }
const MOST_WAITING = 65_536
const MOST_WAITING_BYTES = 128 * 1024 * 1024

function closed(): StoreUnavailableError {
  return refusal("closed", "the store has been closed")
}
