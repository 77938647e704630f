import type { MonotonicMs, WallMs } from "../ports/clock.js"

/**
 * What the keeper of one ward does: a decision. It passes over the entries of what is due, from the beginning
 * of the index, type by type, and fires each, as many at a time as the limits allow. Then it sleeps until the
 * first entry that is not due, and at most 5 seconds: a hint about an earlier entry may be lost. A pass begins
 * at least 100 ms after the one before, as it reads all that is due, and what is on its way.
 *
 *     asleep --look--> listing a page --listed--> firing it --all are fired--> the next page or type
 *
 * A pass never begins again in the middle, so entries that fail, at the beginning of the index, hide no
 * others. It begins anew each time, never where the last one ended: a clock may have been ahead.
 *
 * What fails is tried again after a pause that doubles from 2 seconds to 10 minutes; there is no last
 * attempt. The pauses of up to 1,024 entries are remembered. After a takeover the keeper begins with 8 at a
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
  /** What is due of the last page, and was not fired. */
  #window: readonly DueKey[] = []
  /** Where the next page begins; undefined if the last one was the last of its type. */
  #after: string | undefined
  /** The first entry that is not due. */
  #nextDue: WallMs = Number.POSITIVE_INFINITY
  #passBegan: MonotonicMs = Number.NEGATIVE_INFINITY
  /** When the next pass begins in any case. */
  #lookBy: MonotonicMs = Number.POSITIVE_INFINITY

  get inFlight(): number {
    return this.#inFlight.size
  }

  handle(event: WardEvent, now: Now): readonly WardCommand[] {
    switch (event.kind) {
      case "look":
        return this.#look(event.types, now)
      case "listed":
        return this.#listed(event, now)
      case "not-listed":
        this.#isListing = false
        return this.#endPass(now)
      case "answered":
        return this.#wasAnswered(event, now)
      case "hinted":
        this.#nextDue = Math.min(this.#nextDue, event.at)
        return this.#at === undefined ? this.#sleep(now) : NONE
    }
  }

  #look(types: readonly string[], now: Now): readonly WardCommand[] {
    if (this.#at !== undefined) return NONE
    this.#types = types
    this.#passBegan = now.mono
    this.#nextDue = Number.POSITIVE_INFINITY
    return this.#list(0, undefined, now)
  }

  #list(at: number, after: string | undefined, now: Now): readonly WardCommand[] {
    const type = this.#types[at]
    if (type === undefined) {
      this.#forgetGone()
      return this.#endPass(now)
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
      return at <= now.wall && !this.#inFlight.has(key) && (pause === undefined || pause.until <= now.mono)
    })
    return this.#fire(now)
  }

  #fire(now: Now): readonly WardCommand[] {
    if (this.#at === undefined || this.#isListing) return NONE
    const room = Math.max(0, this.#limit - this.#inFlight.size)
    const batch = this.#window.slice(0, room)
    this.#window = this.#window.slice(room)
    for (const { key } of batch) this.#inFlight.add(key)
    const fires = batch.map(({ key }): WardCommand => {
      return { kind: "fire", key, attempt: (this.#paused.get(key)?.attempts ?? 0) + 1 }
    })
    if (this.#window.length > 0) return fires
    const isLast = this.#after === undefined
    return [...fires, ...this.#list(isLast ? this.#at + 1 : this.#at, this.#after, now)]
  }

  #wasAnswered({ key, outcome, next }: Answered, now: Now): readonly WardCommand[] {
    this.#inFlight.delete(key)
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
    const attempts = (this.#paused.get(key)?.attempts ?? 0) + (outcome === "failed" ? 1 : 0)
    const ms = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, attempts - 1))
    this.#paused.delete(key)
    this.#paused.set(key, { attempts, until: mono + ms })
    if (this.#paused.size > MOST_PAUSED) this.#paused.delete(this.#paused.keys().next().value as string)
  }

  /** Everything that was due has been fired: entries whose pause was over and that were not, are gone. */
  #forgetGone(): void {
    for (const [key, { until }] of this.#paused) {
      if (until <= this.#passBegan && !this.#inFlight.has(key)) this.#paused.delete(key)
    }
  }

  #endPass(now: Now): readonly WardCommand[] {
    this.#at = undefined
    this.#lookBy = now.mono + LOOK_AGAIN_MS
    return this.#sleep(now)
  }

  #sleep(now: Now): readonly WardCommand[] {
    let forMs = Math.min(this.#lookBy - now.mono, this.#nextDue - now.wall)
    for (const [key, { until }] of this.#paused) {
      if (!this.#inFlight.has(key) && until > this.#passBegan) forMs = Math.min(forMs, until - now.mono)
    }
    const leastMs = Math.max(LEAST_SLEEP_MS, this.#passBegan + LEAST_BETWEEN_MS - now.mono)
    return [{ kind: "sleep", forMs: Math.max(leastMs, forMs) }]
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
 * may be there all the same.
 */
export type FiringOutcome = "done" | "refused" | "failed" | "overloaded"

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
  | Answered
  /** There is an entry of this time. */
  | { readonly kind: "hinted"; readonly at: WallMs }

export type WardCommand =
  | { readonly kind: "list"; readonly type: string; readonly after: string | undefined }
  | { readonly kind: "fire"; readonly key: string; readonly attempt: number }
  /** Replaces the sleep that was begun before. */
  | { readonly kind: "sleep"; readonly forMs: number }

interface Pause {
  readonly attempts: number
  readonly until: MonotonicMs
}

const NONE: readonly never[] = []
const SLOW_START = 8
const MOST_IN_FLIGHT = 64
const MOST_PAUSED = 1_024
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 600_000
const LOOK_AGAIN_MS = 5_000
/** Entries come in crowds. */
const LEAST_SLEEP_MS = 20
/** Between the beginnings of two passes: of a crowd that is spread over a second, each pass lists what is left. */
const LEAST_BETWEEN_MS = 100
