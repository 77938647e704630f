import { decodeState } from "../../src/registry/stored-state.js"
import type { SimStoreEvent, Stage } from "../../src/sim/index.js"
import { parseDue } from "../../src/virtual/due-entry.js"
import { splitRows } from "../../src/virtual/inline-reminders.js"
import { OperationMemory } from "../../src/virtual/operation-memory.js"
import { decodeReminder, type ReminderRow } from "../../src/virtual/reminder-row.js"
import type { Cluster } from "../cluster/cluster.js"
import { STATE, stateOf } from "../cluster/store-history.js"
import { type ClerkEntry, type ClerkState, type Plan, SEASONAL } from "./clerk.js"
import type { KeeperStrikes } from "./keeper-strikes.js"

/**
 * Every reminder, by what was committed: its row, its entry in the index, and what its clerk wrote down of
 * it. The three are compared in every state of the store.
 */
export class ReminderLedger {
  readonly #prefix: string
  /** The next time of each reminder, and that of its entry, by its row. */
  readonly #rows = new Map<string, number>()
  readonly #entries = new Map<string, number>()
  /** Of those that are in rows of their own, and of those in the heads of states, by actor. */
  readonly #inRows = new Map<string, Times>()
  readonly #inHeads = new Map<string, ReadonlyMap<string, Times>>()
  /** The times at which each reminder is in the index. */
  readonly #due = new Map<string, Set<number>>()
  readonly #clerks = new Map<string, ClerkBook>()
  /** The next times before the commit that is being looked at. */
  readonly #before = new Map<string, number>()
  readonly #strikes: KeeperStrikes
  /** Whether nothing delays a reminder. */
  readonly #isPunctual: boolean

  constructor(
    stage: Stage,
    cluster: Pick<Cluster, "namespace" | "store">,
    { strikes, isPunctual }: { readonly strikes: KeeperStrikes; readonly isPunctual: boolean },
  ) {
    this.#prefix = `${cluster.namespace}/`
    this.#strikes = strikes
    this.#isPunctual = isPunctual
    cluster.store.observe((event) => this.#take(stage, event))
    stage.invariant<ReminderEvent>("IndexMatches", (event) =>
      event.kind === "indexed" ? this.#matches(event.reminders) : false,
    )
    for (const name of INVARIANTS) {
      stage.invariant<ReminderEvent>(name, (event) => {
        if (event.kind !== "entered" || (name === "InTime" && !this.#isPunctual)) return false
        return event.found.find(([broken]) => broken === name)?.[1]
      })
    }
  }

  /** The reminders that are in the store: the next time of each. */
  get rows(): ReadonlyMap<string, number> {
    return this.#rows
  }

  /** Whether a clerk has written something down. */
  knows(type: string, key: string): boolean {
    return this.#clerks.has(`${type}/${key}`)
  }

  /** The reminders of a clerk that are due by then. */
  dueOf(type: string, key: string, wallMs: number): number {
    const own = `${type}/${key}/`
    return [...this.#rows].filter(([row, next]) => row.startsWith(own) && next <= wallMs).length
  }

  /** Compares the rows with what clerks know: what they have set, and neither cancelled nor seen fire last. */
  audit(): string | undefined {
    for (const [id, { current }] of this.#clerks) {
      for (const [name, { setting }] of current) {
        if (!this.#rows.has(`${id}/${name}`)) return `${id} has set ${name} (${setting}), and there is no row`
      }
    }
    for (const row of this.#rows.keys()) {
      const [type, key, name = ""] = row.split("/")
      if (!this.#clerks.get(`${type}/${key}`)?.current.has(name)) return `there is a row of ${row}`
    }
    return undefined
  }

  #take(stage: Stage, event: SimStoreEvent): void {
    if (event.kind !== "judged") return
    const isOfReminder = event.commit.writes.some(({ key }) => key.startsWith(`${this.#prefix}due/`))
    if (event.isLate && isOfReminder) stage.sometimes("the commit of a reminder arrives too late")
    if (event.result.kind !== "committed") return
    this.#before.clear()
    const touched = new Set<string>()
    for (const write of event.commit.writes) {
      const key = write.key.slice(this.#prefix.length)
      const value = write.kind === "put" ? write.value : undefined
      if (key.startsWith("kin/") && key.includes("/r/")) touched.add(this.#row(key, value))
      if (key.startsWith(STATE) && value !== undefined) {
        for (const reminder of this.#head(key.slice(STATE.length), value)) touched.add(reminder)
      }
      if (key.startsWith("due/") && !key.includes("/~")) touched.add(this.#entry(key, value))
    }
    for (const reminder of touched) this.#settle(reminder)
    if (touched.size > 0) stage.record({ kind: "indexed", reminders: [...touched] })
    for (const write of event.commit.writes) {
      const key = write.key.slice(this.#prefix.length)
      if (write.kind !== "put" || !key.startsWith(STATE)) continue
      const found = this.#wrote(stage, key.slice(STATE.length), stateOf(write.value) as ClerkState)
      stage.record({ kind: "entered", found })
    }
  }

  #row(key: string, value: Uint8Array | undefined): string {
    const [, type, actor, , written = ""] = key.split("/")
    const reminder = `${type}/${actor}/${decodeURIComponent(written)}`
    if (value === undefined) this.#inRows.delete(reminder)
    else this.#inRows.set(reminder, decodeReminder(value))
    return reminder
  }

  /** Takes the reminders in the head of a state; returns those that were there before, or are now. */
  #head(id: string, value: Uint8Array): Iterable<string> {
    const { memory } = decodeState(value)
    const rows = memory === undefined ? [] : splitRows(OperationMemory.decode(memory).reminders.inline)
    const before = this.#inHeads.get(id) ?? new Map()
    const after = new Map(
      rows.map((row) => {
        const reminder = decodeReminder(row)
        return [`${id}/${reminder.name}`, reminder]
      }),
    )
    this.#inHeads.set(id, after)
    return new Set([...before.keys(), ...after.keys()])
  }

  #settle(reminder: string): void {
    const before = this.#rows.get(reminder)
    if (before !== undefined) this.#before.set(reminder, before)
    const id = reminder.split("/").slice(0, 2).join("/")
    const times = this.#inHeads.get(id)?.get(reminder) ?? this.#inRows.get(reminder)
    if (times === undefined) {
      this.#rows.delete(reminder)
      this.#entries.delete(reminder)
      return
    }
    this.#rows.set(reminder, times.next)
    this.#entries.set(reminder, times.entry)
  }

  #entry(key: string, value: Uint8Array | undefined): string {
    const entry = parseDue(key, new Uint8Array(0))
    if (entry === undefined || entry === "needs-value") throw new Error(`${key} is not an entry`)
    const reminder = `${entry.type}/${entry.key}/${decodeURIComponent(entry.name)}`
    const times = this.#due.get(reminder) ?? new Set()
    if (value === undefined) times.delete(entry.at)
    else times.add(entry.at)
    this.#due.set(reminder, times)
    return reminder
  }

  /** A reminder that was set again for a later time keeps its entry, until that is reached. */
  #matches(reminders: readonly string[]): string | undefined {
    for (const reminder of reminders) {
      const [next, entry] = [this.#rows.get(reminder), this.#entries.get(reminder)]
      const times = [...(this.#due.get(reminder) ?? [])]
      const isThere = times.length === 1 && times[0] === entry && Number(entry) <= Number(next)
      if (next === undefined ? times.length > 0 : !isThere) {
        return `${reminder} has its next time at ${next}, an entry at ${entry}, and is in the index at ${times}`
      }
    }
    return undefined
  }

  #wrote(stage: Stage, id: string, { count, recent }: ClerkState): readonly Broken[] {
    const book = this.#clerks.get(id) ?? { count: 0, current: new Map() }
    this.#clerks.set(id, book)
    const news = count - book.count
    if (news < 0 || news > recent.length) {
      return [["NoneSkipped", `${id} has ${count} entries after ${book.count}, and shows ${recent.length}`]]
    }
    book.count = count
    return recent.slice(recent.length - news).flatMap((entry) => this.#enter(stage, { id, book }, entry))
  }

  #enter(stage: Stage, { id, book }: { id: string; book: ClerkBook }, entry: ClerkEntry): readonly Broken[] {
    const { current } = book
    const { name } = entry
    const [type = "", key = ""] = id.split("/")
    const known = current.get(name)
    if (entry.kind === "cancelled") {
      current.delete(name)
      const before = this.#before.get(`${id}/${name}`)
      stage.sometimes("a reminder is cancelled", known !== undefined)
      stage.sometimes(
        "a reminder is cancelled when it is due",
        before !== undefined && before <= entry.cancelledAt,
      )
      return NONE
    }
    if (entry.kind === "set") {
      current.set(name, { setting: entry.setting, plan: entry.plan, last: undefined })
      stage.sometimes("a reminder is replaced", known !== undefined)
      const reminder = `${id}/${name}`
      const isPostponed = Number(this.#entries.get(reminder)) < Number(this.#rows.get(reminder))
      stage.sometimes("a reminder is postponed, and keeps its entry", isPostponed)
      this.#strikes.set(type, key)
      return NONE
    }
    const { setting, at, missed, firedAt } = entry
    const what = `${id} ${name} (${setting}) at ${at}, ${missed} missed, fired at ${firedAt},`
    if (known?.setting !== setting) return [["CancelHeld", `${what} is not set; ${known?.setting} is`]]
    stage.operation()
    stage.sometimes("a reminder fires")
    stage.sometimes(
      "a reminder fires when its type is back after a day",
      type === SEASONAL && firedAt - at > DAY_MS / 2,
    )
    this.#strikes.fired(type, key)
    stage.sometimes("an occurrence was missed", missed > 0)
    const broken: Broken[] = []
    if (at > firedAt + MOST_EARLY_MS) broken.push(["NotBefore", what])
    if (this.#isPunctual && firedAt > at + MOST_LATE_MS) broken.push(["InTime", what])
    const { plan, last } = known
    if (!("everyMs" in plan)) {
      current.delete(name)
      if (missed !== 0) broken.push(["NoneSkipped", `${what} is the only one`])
      return broken
    }
    if (last !== undefined && at <= last) return [["OncePerOccurrence", `${what} fires after ${last}`]]
    // The first occurrence of a setting has no time to compare with.
    if (last !== undefined && at - last !== plan.everyMs * (missed + 1)) {
      broken.push(["NoneSkipped", `${what} fires after ${last}, every ${plan.everyMs}`])
    }
    if (plan.missed === "all" && missed > 0) broken.push(["NoneSkipped", `${what} has to run each`])
    current.set(name, { ...known, last: at })
    return broken
  }
}

const INVARIANTS = ["NoneSkipped", "OncePerOccurrence", "CancelHeld", "NotBefore", "InTime"] as const
type Broken = readonly [(typeof INVARIANTS)[number], string]

type ReminderEvent =
  | { readonly kind: "indexed"; readonly reminders: readonly string[] }
  | { readonly kind: "entered"; readonly found: readonly Broken[] }

type Times = Pick<ReminderRow, "next" | "entry">

interface ClerkBook {
  count: number
  /** What is set, by its name. */
  readonly current: Map<string, { setting: number; plan: Plan; last: number | undefined }>
}

const NONE: readonly never[] = []
/** The node of an actor refuses what is earlier by its own clock. */
const MOST_EARLY_MS = 5_000
/** In a calm cluster a reminder is no later. */
const MOST_LATE_MS = 1_000
const DAY_MS = 24 * 60 * 60 * 1_000
