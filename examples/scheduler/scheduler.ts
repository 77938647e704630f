import { createHash } from "node:crypto"
import { Actor, withOptions } from "troupe"

/** Something that is to be done at a time, even if every process restarts until then. */
export interface Job {
  /** Chosen by the caller, and new for each job. A job that is scheduled again with the same id is one job. */
  readonly id: string
  /** A time of day, as `Date.now` gives it. */
  readonly atMs: number
  /** The type and key of the actor that does it. */
  readonly type: string
  readonly key: string
  readonly about: string
}

/** An actor that jobs can be scheduled for. */
export abstract class Remindable<State = unknown> extends Actor<State> {
  /** Does the job. It may be called more than once with one id, so it has to remember the ids that it has seen. */
  abstract remind(id: string, about: string): Promise<void>
}

interface Waiting {
  readonly job: Job
  readonly dueAtMs: number
  readonly attempts: number
}

/** What remains of a job: a tombstone, which keeps its id. */
interface Ended {
  readonly outcome: "done" | "cancelled" | "failed"
  readonly endedAtMs: number
}

/**
 * Keeps a part of all jobs, and does those that are due when it is ticked. `schedulerOf` says which scheduler
 * has a job. A job is done at least once: it stays on the agenda until the actor has answered.
 */
export class Scheduler extends Actor<Map<string, Waiting | Ended>> {
  static readonly type = "Scheduler"
  /** So that an actor may schedule its next job while a tick waits for it. */
  static readonly reentrant = true

  protected override initialState(): Map<string, Waiting | Ended> {
    return new Map()
  }

  /** May be called again with the same job. A job that was cancelled or done is not scheduled again. */
  async schedule(job: Job): Promise<void> {
    if (this.state.has(job.id)) return
    this.state.set(job.id, { job, dueAtMs: job.atMs, attempts: 0 })
    try {
      await this.save()
    } catch (error) {
      this.state.delete(job.id) // too many jobs for one state; the caller's next attempt must not find this one
      throw error
    }
  }

  /**
   * Returns whether the job was cancelled before its first attempt. If so it never runs, not even if an attempt
   * to schedule it arrives later.
   */
  async cancel(id: string): Promise<boolean> {
    const entry = this.state.get(id)
    if (entry !== undefined && "outcome" in entry) return entry.outcome === "cancelled"
    if (entry !== undefined && entry.attempts > 0) return false
    this.state.set(id, { outcome: "cancelled", endedAtMs: Date.now() })
    await this.save()
    return true
  }

  /** Does the jobs that are due, a limited number at a time. */
  async tick(): Promise<void> {
    const due = this.#due().slice(0, MOST_AT_ONCE)
    if (due.length === 0) return
    // An attempt is saved before it is made, so that a job that may have run can no longer be cancelled.
    for (const { job, attempts } of due) this.#postpone(job, attempts + 1)
    await this.save()
    await Promise.all(due.map(({ job, attempts }) => this.#make(job, attempts + 1)))
    this.#forgetEnded()
    await this.save()
  }

  async #make(job: Job, attempt: number): Promise<void> {
    const actor = withOptions(this.actor<Remindable>(job.type, job.key), { timeoutMs: 5_000 })
    try {
      await actor.remind(job.id, job.about)
      this.state.set(job.id, { outcome: "done", endedAtMs: Date.now() })
    } catch (error) {
      // It is postponed already. After a week of attempts it is given up.
      this.log.log("warn", "a job failed", { job: job.id, attempt, error })
      if (attempt === MOST_ATTEMPTS) this.state.set(job.id, { outcome: "failed", endedAtMs: Date.now() })
    }
  }

  #due(): Waiting[] {
    const due: Waiting[] = []
    for (const entry of this.state.values()) {
      if ("job" in entry && entry.dueAtMs <= Date.now()) due.push(entry)
    }
    return due
  }

  #postpone(job: Job, attempts: number): void {
    const delayMs = Math.min(1_000 * 2 ** attempts, HOUR_MS)
    this.state.set(job.id, { job, dueAtMs: Date.now() + delayMs, attempts })
  }

  /** Keeps tombstones for a day, which is longer than an attempt to schedule a job can be late. */
  #forgetEnded(): void {
    for (const [id, entry] of this.state) {
      if ("outcome" in entry && entry.endedAtMs + 24 * HOUR_MS <= Date.now()) this.state.delete(id)
    }
  }
}

/** The keys of all schedulers. Jobs stay where they are, so this list may not change while there are any. */
export const schedulers = ["0", "1", "2", "3", "4", "5", "6", "7"]

/** Returns the key of the scheduler for a job. A state has at most 1 MiB, so the jobs are spread. */
export function schedulerOf(jobId: string): string {
  const hash = createHash("sha256").update(jobId).digest().readUInt32BE()
  return schedulers[hash % schedulers.length] as string
}

const HOUR_MS = 60 * 60 * 1_000
const MOST_AT_ONCE = 100
const MOST_ATTEMPTS = 180
