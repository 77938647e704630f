import type { MonotonicMs, WallMs } from "../ports/clock.js"
import { type Recorded, Suspects } from "./suspects.js"

/**
 * What the keeper of one ward does: a decision. It passes over the entries of what is due, from the beginning
 * of the index, type by type, and fires each, as many at a time as the limits allow. Then it sleeps until the
 * first entry that is not due, and at most 5 seconds: a hint about an earlier entry may be lost. A pass
 * begins at least 100 ms after the one before, as it reads all that is due, and what is on its way.
 *
 *     asleep --look--> listing a page --listed--> firing it --all are fired--> the next page or type
 *
 * In its first pass it records what it fires before it does, batch by batch (`suspects.ts`).
 *
 * A pass never begins again in the middle, so entries that fail, at the beginning of the index, hide no
 * others. It begins anew each time, never where the last one ended: a clock may have been ahead.
 *
 * What fails is tried again after a pause that doubles from 2 seconds to 10 minutes, or to 8 seconds if the
 * actor could not be reached; there is no last attempt. If three nodes have died of it, the pause is a minute
 * at least. The pauses of up to 1,024 entries are remembered. After a takeover the keeper begins with 8 at a
 * time, and doubles that after as many answers, up to 64; a target that is overloaded halves it.
 */
export class WardKeeper {
  #limit = SLOW_START
  #answered = 0
  readonly #inFlight = new Set<string>()
  readonly #paused = new Map<string, Pause>()
  #types: readonly string[] = []
  /** The index of the type whose entries are passed over; undefined while asleep. */
  #at: number | undefined
  #isListing = false
  readonly #suspects: Suspects
  /** What is fired once it is recorded. */
  #recording: readonly DueKey[] = []
  /** When the last recorded batch was fired. */
  #wariedAt: MonotonicMs = 0
  /** What is due of the last page, and was not fired. */
  #window: DueKey[] = []
  /** Where the next page begins; undefined if the last one was the last of its type. */
  #after: string | undefined
  /** The first entry that is not due. */
  #nextDue: WallMs = Number.POSITIVE_INFINITY
  #passBegan: MonotonicMs = Number.NEGATIVE_INFINITY
  /** When the sleep ends that was begun last; undefined if it has ended. */
  #asleepUntil: MonotonicMs | undefined
  /** When the next pass begins in any case. */
  #lookBy: MonotonicMs = Number.POSITIVE_INFINITY

  /** `left` is what the keeper before this one has recorded. */
  constructor(left: readonly Recorded[], { mono }: Pick<Now, "mono">) {
    this.#suspects = new Suspects(left, mono)
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  handle(event: WardEvent, now: Now): readonly WardCommand[] {
    switch (event.kind) {
      case "look":
        this.#asleepUntil = undefined
        return this.#look(event.types, now)
      case "listed":
        return this.#listed(event, now)
      case "not-listed":
        this.#isListing = false
        return this.#endPass(now)
      case "recorded":
        return this.#recorded(event.isDone, now)
      case "answered":
        return this.#wasAnswered(event, now)
      case "hinted":
        this.#nextDue = Math.min(this.#nextDue, event.at)
        return this.#at === undefined ? this.#sleep(now) : NONE
    }
  }

  #look(types: readonly string[], now: Now): readonly WardCommand[] {
    if (this.#at !== undefined) return this.#fire(now)
    this.#types = types
    this.#passBegan = now.mono
    this.#nextDue = Number.POSITIVE_INFINITY
    return this.#list(0, undefined, now)
  }

  #list(at: number, after: string | undefined, now: Now): readonly WardCommand[] {
    const type = this.#types[at]
    if (type === undefined) {
      this.#forgetGone()
      const isOver = this.#suspects.passed(this.#passBegan, (key) => this.#isListed(key))
      const end = this.#endPass(now)
      return isOver ? [{ kind: "record", recorded: NONE }, ...end] : end
    }
    this.#at = at
    this.#isListing = true
    return [{ kind: "list", type, after }]
  }

  #listed({ entries, more }: Listed, now: Now): readonly WardCommand[] {
    this.#isListing = false
    const later = entries.find(({ at }) => at > now.wall)
    if (later !== undefined) this.#nextDue = Math.min(this.#nextDue, later.at)
    this.#after = more && later === undefined ? entries.at(-1)?.key : undefined
    this.#window = entries.filter(({ key, at }) => {
      const pause = this.#paused.get(key)
      if (this.#suspects.isPaused(key, now.mono)) return false
      return at <= now.wall && !this.#inFlight.has(key) && (pause === undefined || pause.until <= now.mono)
    })
    return this.#fire(now)
  }

  #fire(now: Now): readonly WardCommand[] {
    if (this.#at === undefined || this.#isListing) return NONE
    if (this.#suspects.isWary) return this.#record(now)
    const fires = this.#fireBatch(this.#take(Math.max(0, this.#limit - this.#inFlight.size)))
    return this.#window.length > 0 ? fires : [...fires, ...this.#listOn(now)]
  }

  #take(count: number): readonly DueKey[] {
    return this.#window.splice(0, count)
  }

  #fireBatch(batch: readonly DueKey[]): readonly WardCommand[] {
    for (const { key } of batch) this.#inFlight.add(key)
    return batch.map(({ key }): WardCommand => {
      const attempts = (this.#paused.get(key)?.attempts ?? 0) + this.#suspects.deathsOf(key)
      return { kind: "fire", key, attempt: attempts + 1 }
    })
  }

  /** Records the next batch, once the one before was answered, or takes so long that it did no harm. */
  #record(now: Now): readonly WardCommand[] {
    if (this.#recording.length > 0) return NONE
    const room = this.#limit - this.#inFlight.size
    if (this.#inFlight.size > 0 && (room <= 0 || now.mono < this.#wariedAt + HARMLESS_MS)) return NONE
    if (this.#window.length === 0) return this.#listOn(now)
    this.#recording = this.#take(this.#suspects.togetherOf(this.#window, room))
    const keys = [...this.#inFlight, ...this.#recording.map(({ key }) => key)]
    return [{ kind: "record", recorded: this.#suspects.record(keys) }]
  }

  #recorded(isDone: boolean, now: Now): readonly WardCommand[] {
    const batch = this.#recording
    this.#recording = NONE
    if (batch.length === 0) {
      if (isDone) this.#suspects.deleted()
      return NONE
    }
    if (!isDone) return this.#endPass(now)
    this.#wariedAt = now.mono
    return [...this.#fireBatch(batch), this.#sleepFor(HARMLESS_MS, now)]
  }

  /** Lists the next page, or the first one of the next type. */
  #listOn(now: Now): readonly WardCommand[] {
    if (this.#at === undefined) return NONE
    const isLast = this.#after === undefined
    return this.#list(isLast ? this.#at + 1 : this.#at, this.#after, now)
  }

  #wasAnswered({ key, outcome, next }: Answered, now: Now): readonly WardCommand[] {
    this.#inFlight.delete(key)
    this.#suspects.outlived(key)
    this.#learn(outcome)
    if (outcome === "done") this.#paused.delete(key)
    else this.#pause(key, outcome, now)
    if (next !== undefined) this.#nextDue = Math.min(this.#nextDue, next)
    return this.#at === undefined ? this.#sleep(now) : this.#fire(now)
  }

  #learn(outcome: FiringOutcome): void {
    if (outcome === "overloaded") {
      this.#limit = Math.max(1, Math.floor(this.#limit / 2))
      this.#answered = 0
      return
    }
    this.#answered += 1
    if (this.#answered < this.#limit) return
    this.#limit = Math.min(MOST_IN_FLIGHT, this.#limit * 2)
    this.#answered = 0
  }

  #pause(key: string, outcome: FiringOutcome, { mono }: Now): void {
    const before = this.#paused.get(key)
    const attempts = (before?.attempts ?? 0) + (outcome === "refused" || outcome === "overloaded" ? 0 : 1)
    const deaths = outcome === "died" ? (before?.deaths ?? 0) + 1 : 0
    const isSuspect = deaths >= SUSPECT_AFTER_DEATHS
    const longest = outcome === "failed" || isSuspect ? LONGEST_PAUSE_MS : LONGEST_UNREACHED_MS
    const first = isSuspect ? SUSPECT_PAUSE_MS : FIRST_PAUSE_MS
    const doubled = Math.max(0, isSuspect ? deaths - SUSPECT_AFTER_DEATHS : attempts - 1)
    this.#paused.delete(key)
    this.#paused.set(key, { attempts, deaths, until: mono + Math.min(longest, first * 2 ** doubled) })
    if (this.#paused.size > MOST_PAUSED) this.#paused.delete(this.#paused.keys().next().value as string)
  }

  /** Everything that was due has been fired: entries whose pause was over and that were not, are gone. */
  #forgetGone(): void {
    for (const [key, { until }] of this.#paused) {
      if (until <= this.#passBegan && !this.#inFlight.has(key)) this.#paused.delete(key)
    }
  }

  /** Whether this pass lists the type of the entry. */
  #isListed(key: string): boolean {
    return this.#types.includes(key.split("/")[2] as string)
  }

  #endPass(now: Now): readonly WardCommand[] {
    this.#at = undefined
    this.#lookBy = now.mono + LOOK_AGAIN_MS
    return this.#sleep(now)
  }

  #sleep(now: Now): readonly WardCommand[] {
    const suspectsAt = this.#suspects.nextAfter(this.#passBegan)
    let forMs = Math.min(this.#lookBy - now.mono, this.#nextDue - now.wall, suspectsAt - now.mono)
    for (const [key, { until }] of this.#paused) {
      if (!this.#inFlight.has(key) && until > this.#passBegan) forMs = Math.min(forMs, until - now.mono)
    }
    const leastMs = Math.max(LEAST_SLEEP_MS, this.#passBegan + LEAST_BETWEEN_MS - now.mono)
    const longest = Math.max(leastMs, forMs)
    // Most answers change nothing about it.
    const isEarlyEnough = this.#asleepUntil !== undefined && this.#asleepUntil <= now.mono + longest
    return isEarlyEnough ? NONE : [this.#sleepFor(longest, now)]
  }

  #sleepFor(forMs: number, now: Now): WardCommand {
    this.#asleepUntil = now.mono + forMs
    return { kind: "sleep", forMs }
  }
}

interface Now {
  readonly wall: WallMs
  readonly mono: MonotonicMs
}

/** An entry of the index. */
export interface DueKey {
  readonly key: string
  readonly at: WallMs
}

/**
 * `done`: there is nothing left to do about the entry. `refused`: it is not to be fired yet, or any more, and
 * may be there all the same. `unreached`: the actor was not called, or that is not known. `died`: the node
 * that had the actor is gone, perhaps because of it.
 */
export type FiringOutcome = "done" | "refused" | "failed" | "unreached" | "died" | "overloaded"

interface Listed {
  readonly kind: "listed"
  readonly entries: readonly DueKey[]
  readonly more: boolean
}

interface Answered {
  readonly kind: "answered"
  readonly key: string
  readonly outcome: FiringOutcome
  /** When the reminder is due again. */
  readonly next?: WallMs | undefined
}

export type WardEvent =
  /** The sleep is over. */
  | { readonly kind: "look"; readonly types: readonly string[] }
  | Listed
  | { readonly kind: "not-listed" }
  /** The store has what was to be recorded, or not. */
  | { readonly kind: "recorded"; readonly isDone: boolean }
  | Answered
  /** There is an entry of this time. */
  | { readonly kind: "hinted"; readonly at: WallMs }

export type WardCommand =
  | { readonly kind: "list"; readonly type: string; readonly after: string | undefined }
  | { readonly kind: "fire"; readonly key: string; readonly attempt: number }
  /** Nothing is to be recorded any more if it is empty. */
  | { readonly kind: "record"; readonly recorded: readonly Recorded[] }
  /** Replaces the sleep that was begun before. */
  | { readonly kind: "sleep"; readonly forMs: number }

interface Pause {
  readonly attempts: number
  /** The number of nodes that have died one after the other. */
  readonly deaths: number
  readonly until: MonotonicMs
}

const NONE: readonly never[] = []
const SLOW_START = 8
const MOST_IN_FLIGHT = 64
const MOST_PAUSED = 1_024
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 600_000
const LONGEST_UNREACHED_MS = 8_000
/** Nodes die for other reasons too. */
const SUSPECT_AFTER_DEATHS = 3
const SUSPECT_PAUSE_MS = 60_000
/** What ends a process mostly does so sooner. */
const HARMLESS_MS = 2_000
const LOOK_AGAIN_MS = 5_000
/** Entries come in crowds. */
const LEAST_SLEEP_MS = 20
/** Between the beginnings of two passes: of a crowd that is due within a second, each lists what is left. */
const LEAST_BETWEEN_MS = 100
