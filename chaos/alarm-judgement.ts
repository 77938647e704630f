import { Latencies } from "../tools/latencies.js"
import type { AlarmEntry, AlarmState, Plan } from "./alarm-actor.js"
import { type AppliedFigures, figuresOf, problemsOfApplied } from "./applied-operations.js"
import type { AlarmInput } from "./once-subject.js"
import type { LoggedOperation } from "./operation-log.js"

export type AlarmOperation = LoggedOperation<AlarmInput, number>
export type AlarmStates = ReadonlyMap<string, AlarmState>

export interface AlarmFigures extends AppliedFigures {
  readonly set: number
  readonly cancelled: number
  readonly fired: number
  /** Occurrences that a later one has reported as missed. */
  readonly missed: number
  /** How long after its time each occurrence has run. */
  readonly lateness: Latencies
}

/**
 * Compares what alarms have written down with what clients were told. Beside what holds for all operations:
 * each occurrence of a reminder up to `dueBy`, a wall-clock time, has fired once, or a later one has reported
 * it as missed; none has fired before its time, and none after it was cancelled.
 */
export function judgeAlarms(
  operations: readonly AlarmOperation[],
  states: AlarmStates,
  dueBy: number,
): { readonly problems: readonly string[]; readonly figures: AlarmFigures } {
  const lists = new Map(
    [...states].map(([key, { entries }]) => [
      key,
      entries.flatMap((entry, index) =>
        entry.kind === "fired" ? [] : [{ id: entry.operation, position: index + 1 }],
      ),
    ]),
  )
  const problems = [...problemsOfApplied("alarm", operations, lists, (position) => position)]
  const counts = { set: 0, cancelled: 0, fired: 0, missed: 0 }
  const lateness = new Latencies()
  for (const [key, { entries }] of states) {
    const alarm = new KnownAlarm(key)
    for (const entry of entries) {
      problems.push(...alarm.take(entry))
      counts[entry.kind] += 1
      if (entry.kind !== "fired") continue
      counts.missed += entry.missed
      lateness.add(Math.max(0, entry.firedAt - entry.at))
    }
    problems.push(...alarm.overdue(dueBy))
  }
  return { problems, figures: { ...figuresOf(operations, lists), ...counts, lateness } }
}

/** Whether something should have fired by then, and has not. */
export function isOverdue(state: AlarmState | undefined, dueBy: number): boolean {
  const alarm = new KnownAlarm("")
  for (const entry of state?.entries ?? []) alarm.take(entry)
  return alarm.overdue(dueBy).length > 0
}

/** The reminders of one alarm, as its entries tell of them. */
class KnownAlarm {
  readonly #key: string
  readonly #reminders = new Map<string, KnownReminder>()

  constructor(key: string) {
    this.#key = key
  }

  /** Returns what is wrong with the entry, after those before it. */
  take(entry: AlarmEntry): readonly string[] {
    const { name } = entry
    if (entry.kind === "set") {
      this.#reminders.set(name, { plan: entry.plan, at: entry.at, last: undefined, isCancelled: false })
      return NONE
    }
    const known = this.#reminders.get(name)
    if (entry.kind === "fired") return this.#fired(entry, known)
    if (known !== undefined) known.isCancelled = true
    return NONE
  }

  overdue(dueBy: number): readonly string[] {
    return [...this.#reminders].flatMap(([name, { plan, at, last, isCancelled }]): readonly string[] => {
      if (isCancelled || (plan.kind === "once" && last !== undefined)) return NONE
      const due = plan.kind === "once" ? at : (last ?? at) + plan.everyMs
      return due > dueBy ? NONE : [`${this.#what(name, due)} has not fired by ${dueBy}`]
    })
  }

  #fired(entry: Fired, known: KnownReminder | undefined): readonly string[] {
    const what = this.#what(entry.name, entry.at)
    if (known === undefined) return [`${what} has fired, and was not set`]
    const { last, isCancelled } = known
    if (last !== undefined && entry.at <= last) return [`${what} has fired again, after that of ${last}`]
    known.last = entry.at
    return [
      ...(isCancelled ? [`${what} has fired after it was cancelled`] : NONE),
      ...(entry.firedAt < entry.at - MOST_EARLY_MS
        ? [`${what} has fired before its time, at ${entry.firedAt}`]
        : NONE),
      ...wrongTime(entry, { ...known, last }).map((problem) => `${what} ${problem}`),
    ]
  }

  #what(name: string, at: number): string {
    return `${name}@${at} of alarm ${this.#key}`
  }
}

/** What is wrong with the time of an occurrence, or with the number of those that it reports as missed. */
function wrongTime({ at, missed }: Fired, { plan, at: setFor, last }: KnownReminder): readonly string[] {
  if (plan.kind === "once") {
    if (last !== undefined) return [`has fired after that of ${last}, and is for one time`]
    return at === setFor && missed === 0 ? NONE : [`has fired with ${missed} missed, and is for ${setFor}`]
  }
  if (plan.missed === "all" && missed > 0) return [`has fired with ${missed} missed, and all are to run`]
  const step = plan.everyMs * (missed + 1)
  // The first one follows from a time shortly before the one that was written down.
  const isRight = last === undefined ? at <= setFor + step : at === last + step
  if (isRight) return NONE
  return [`has fired with ${missed} missed after ${last ?? setFor}, and is for every ${plan.everyMs} ms`]
}

type Fired = Extract<AlarmEntry, { kind: "fired" }>

interface KnownReminder {
  readonly plan: Plan
  /** As it was written down when it was set. */
  readonly at: number
  /** The time of the last occurrence that has fired. */
  last: number | undefined
  isCancelled: boolean
}

const NONE: readonly never[] = []
/** All nodes are on one machine, whose clock may be adjusted by a little. */
const MOST_EARLY_MS = 20
