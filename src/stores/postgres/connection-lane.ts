import type { StoreUnavailableError } from "../../errors/store-errors.js"
import type { Scheduler } from "../../ports/scheduler.js"
import { Backoff } from "./backoff.js"
import { type Job, LaneWork } from "./lane-work.js"
import type { OpenRequests } from "./open-requests.js"
import type { Session } from "./session.js"

/**
 * Some connections, and the requests that wait for one. Connections are opened when they are needed. While
 * the server cannot be reached, requests wait for as long as their time lasts, and are then rejected with the
 * last problem.
 */
export class ConnectionLane {
  readonly work: LaneWork
  readonly #carrier: Carrier
  readonly #scheduler: Scheduler
  readonly #mostSessions: number
  /** A read is quick, and does not wait for the flush of a commit, unless there is one connection in all. */
  readonly #mostCommitting: number
  readonly #sessions = new Set<Session>()
  readonly #idle: Session[] = []
  readonly #backoff = new Backoff()
  /** How many connections are busy with commits. */
  #committing = 0
  #isPumpDue = false
  #isOpening = false
  #isClosed = false
  /** The last reason why there is no connection. */
  problem: StoreUnavailableError | undefined

  constructor(carrier: Carrier, open: OpenRequests, scheduler: Scheduler, mostSessions: number) {
    this.#carrier = carrier
    this.work = new LaneWork(open)
    this.#scheduler = scheduler
    this.#mostSessions = mostSessions
    this.#mostCommitting = Math.max(1, mostSessions - 1)
  }

  /** Adds a connection that is open already. */
  adopt(session: Session): void {
    this.#sessions.add(session)
    this.#idle.push(session)
  }

  /** Called when there is work. What is asked for until the end of this turn of the event loop goes along. */
  wake(): void {
    if (this.#isPumpDue || this.#isClosed) return
    this.#isPumpDue = true
    this.#scheduler.afterMicrotasks(this.#pump)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#backoff.cancel()
    await Promise.all([...this.#sessions].map((session) => session.close()))
  }

  readonly #pump = (): void => {
    this.#isPumpDue = false
    while (!this.#isClosed && !this.work.isEmpty) {
      const session = this.#idle.pop()
      if (session === undefined) {
        if (this.#sessions.size < this.#mostSessions) void this.#open()
        return
      }
      if (!session.isOpen) {
        this.#sessions.delete(session)
        continue
      }
      const job = this.work.take(this.#committing < this.#mostCommitting)
      if (job === undefined) {
        this.#idle.push(session)
        return
      }
      void this.#run(session, job)
    }
  }

  async #run(session: Session, job: Job): Promise<void> {
    if (job.kind === "commit") this.#committing += 1
    const outcome = await this.#carrier.carryOut(session, job)
    if (job.kind === "commit") this.#committing -= 1
    if (outcome === "again") this.work.putBack(job)
    if (job.kind === "commit") for (const request of job.requests) this.work.end(request)
    if (session.isOpen) this.#idle.push(session)
    else this.#sessions.delete(session)
    this.wake()
  }

  async #open(): Promise<void> {
    if (this.#isOpening) return
    this.#isOpening = true
    try {
      const session = await this.#carrier.openSession()
      this.#backoff.reset()
      this.problem = undefined
      this.adopt(session)
      if (this.#isClosed) await session.close()
    } catch (error) {
      this.problem = error as StoreUnavailableError
      await this.#backoff.pause()
    }
    this.#isOpening = false
    this.wake()
  }
}

/** Opens connections, and carries out jobs. */
export interface Carrier {
  /** Rejects with a `StoreUnavailableError`. */
  openSession(): Promise<Session>
  /** Answers the requests of a job, or has them made again. Never rejects. */
  carryOut(session: Session, job: Job): Promise<"done" | "again">
}
