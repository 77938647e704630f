import type { Stage } from "../../src/sim/index.js"
import type { Forgotten, OnceEvent, Stored, Told } from "./events.js"
import type { Intent, IntentBook, Outcome } from "./intent-book.js"
import type { Memory } from "./stored-vaults.js"
import { BRIEF_MS, passedOn } from "./vault.js"

/** What the vaults have stored, against what callers were told. */
export class OnceLedger {
  readonly #book: IntentBook
  readonly #vaults = new Map<string, Vault>()
  readonly #told = new Map<Intent, Outcome>()
  readonly #undone = new Set<string>()
  readonly #stage: Stage
  /** How often the name of an intent was forgotten. */
  readonly #forgotten = new Map<string, number>()
  readonly #appliedAtMs = new Map<string, number>()

  constructor(stage: Stage, book: IntentBook) {
    this.#book = book
    this.#stage = stage
    stage.invariant<OnceEvent>("AppliedOnce", (event) => {
      if (event.kind === "undone") return this.#wasUndone(event.intent)
      return event.kind === "stored" ? this.#stored(event) : false
    })
    stage.invariant<OnceEvent>("NamesKept", (event) =>
      event.kind === "forgotten" ? this.#mayForget(event) : false,
    )
    stage.invariant<OnceEvent>("OneIntentPerName", (event) => {
      if (event.kind !== "reused") return false
      return event.isRefused ? undefined : `${event.intent.wish.intent} was repeated with other arguments`
    })
    stage.invariant<OnceEvent>("SameAnswer", (event) => (event.kind === "told" ? this.#same(event) : false))
    stage.invariant<OnceEvent>("Gate", (event) => {
      if (event.kind === "told") return this.#isStored(event)
      return event.kind === "looked" ? this.#isSeenStored(event) : false
    })
    stage.invariant<OnceEvent>("ThrownChangesNothing", (event) => {
      if (event.kind === "told") return this.#changedNothing(event)
      if (event.kind === "looked") return event.seen.marks === 0 ? undefined : `${event.vault} shows marks`
      if (event.kind !== "stored" || event.state.marks.length === 0) return false
      return `${event.vault} has stored what ${event.state.marks} left`
    })
    stage.invariant<OnceEvent>("BoundedMemory", (event) => (event.kind === "stored" ? bounded(event) : false))
    stage.invariant<OnceEvent>("OrderKept", (event) => {
      if (event.kind !== "burst") return false
      const { positions, vault } = event
      const isAscending = positions.every((one, at) => one > (positions[at - 1] ?? 0))
      return isAscending ? undefined : `${vault} applied calls of one caller at ${positions}`
    })
  }

  /** The number of intents that a vault has applied, by its last commit. */
  applied(vault: string): number {
    return this.#vaults.get(vault)?.applied.length ?? 0
  }

  /** What a vault remembers, by its last commit. */
  memory(vault: string): Memory | undefined {
    return this.#vaults.get(vault)?.memory
  }

  /** An intent of a vault, or of one that passed it on, whose callers were told otherwise. */
  wrong(): string | undefined {
    for (const [intent, outcome] of this.#told) {
      const { vault, wish, method } = intent
      const position = this.#positionOf(vault, wish.intent)
      if ((outcome.kind === "applied") !== position > 0) return `${wish.intent} is at ${position} of ${vault}`
      const isPassed = this.#positionOf(wish.to, passedOn(wish.intent)) > 0
      if (method === "pass" && position > 0 && !isPassed) return `${wish.intent} was not passed on`
    }
    return undefined
  }

  #stored({ vault, state, memory }: Stored): string | undefined {
    const { applied } = state
    const before = this.#vaults.get(vault)?.applied ?? []
    this.#vaults.set(vault, { applied, notes: state.notes, memory })
    for (const [at, intent] of before.entries()) {
      if (applied[at] !== intent) return `${vault} has ${applied[at]} where ${intent} was`
    }
    for (let at = before.length; at < applied.length; at += 1) {
      const intent = applied[at] as string
      const times = applied.slice(0, at + 1).filter((one) => one === intent).length
      if (times > 1 + (this.#forgotten.get(intent) ?? 0)) return `${vault} has ${intent} ${times} times`
      this.#stage.sometimes("an intent is applied again after its name was forgotten", times > 1)
      this.#appliedAtMs.set(intent, this.#stage.nowMs)
      if (this.#undone.has(intent)) return `${vault} has ${intent}, which was said not to be delivered`
    }
    return undefined
  }

  /** A name is kept for as long as its method says, which is a week, or a minute; clocks are days apart. */
  #mayForget({ vault, name }: Forgotten): string | undefined {
    const id = name.slice("order ".length)
    const what = `${vault} has forgotten ${name}`
    if (this.#book.intent(id)?.method !== "brief") return what
    this.#forgotten.set(id, 1 + (this.#forgotten.get(id) ?? 0))
    this.#stage.sometimes("a name is forgotten")
    const keptMs = this.#stage.nowMs - (this.#appliedAtMs.get(id) as number)
    const isOver = this.#stage.faults["clock-jump"] > 0 || keptMs > (BRIEF_MS - CLOCKS_MS) * 0.9
    return isOver ? undefined : `${what} after ${keptMs} ms`
  }

  #wasUndone({ vault, wish }: Intent): string | undefined {
    this.#undone.add(wish.intent)
    const position = this.#positionOf(vault, wish.intent)
    return position === 0 ? undefined : `${wish.intent} was said not to be delivered, and is at ${position}`
  }

  #same({ intent, outcome }: Told): string | undefined {
    if (this.#forgotten.has(intent.wish.intent)) return undefined
    const before = this.#told.get(intent) ?? outcome
    this.#told.set(intent, before)
    const [first, now] = [shown(before), shown(outcome)]
    return first === now ? undefined : `${intent.wish.intent} was answered with ${first}, now with ${now}`
  }

  #isStored({ intent, outcome }: Told): string | undefined | false {
    if (outcome.kind !== "applied") return false
    const { vault, wish } = intent
    if (this.#vaults.get(vault)?.applied[outcome.position - 1] === wish.intent) return undefined
    return `${wish.intent} was answered with ${outcome.position}; ${vault} has it at ${this.#positionOf(vault, wish.intent)}`
  }

  #isSeenStored({ vault, seen }: OnceEvent & { kind: "looked" }): string | undefined {
    const { applied = [], notes = 0 } = this.#vaults.get(vault) ?? {}
    if (seen.applied <= applied.length && seen.notes <= notes) return undefined
    return `${vault} shows ${seen.applied} and ${seen.notes}, and has stored ${applied.length} and ${notes}`
  }

  #changedNothing({ intent, outcome }: Told): string | undefined | false {
    if (outcome.kind !== "threw") return false
    const { vault, wish } = intent
    this.#undone.add(wish.intent)
    const position = this.#positionOf(vault, wish.intent)
    return position === 0 ? undefined : `${wish.intent} threw, and is at ${position} of ${vault}`
  }

  /** Counted from 1; 0 if it is not there. */
  #positionOf(vault: string, intent: string): number {
    return (this.#vaults.get(vault)?.applied.indexOf(intent) ?? -1) + 1
  }
}

interface Vault {
  readonly applied: readonly string[]
  readonly notes: number
  readonly memory: Memory
}

/** The head says what rows there are, and is small. */
function bounded({ vault, memory, rows }: Stored): string | undefined {
  const { bytes, named, namedDueAt, inRows, messages, dueAt } = memory
  if (bytes > MAX_MEMORY) return `${vault} remembers ${bytes} bytes in its head`
  if (rows.o !== named || rows.e !== named) {
    return `${vault} counts ${named} names, and has ${rows.o} rows of them and ${rows.e} that expire`
  }
  if (rows.a !== inRows) return `${vault} knows of ${inRows} answers in rows, and has ${rows.a}`
  if (rows.x !== messages) return `${vault} counts ${messages} messages, and has ${rows.x} rows of them`
  const isDue = messages === 0 ? rows.due.length === 0 : rows.due.length === 1 && rows.due[0] === dueAt
  if (!isDue) return `${vault} has ${messages} messages, due at ${dueAt}, and is in the index at ${rows.due}`
  // An entry of names that are all gone is found out of date at its time.
  if (named > 0 && !rows.expiry.includes(namedDueAt)) {
    return `${vault} has ${named} names, due at ${namedDueAt}, and is in the index at ${rows.expiry}`
  }
  return rows.c <= 1 ? undefined : `${vault} has ${rows.c} chunks`
}

/** The clocks of machines are no further apart at first. */
const CLOCKS_MS = 60_000
const MAX_MEMORY = 32 * 1_024

function shown(outcome: Outcome): string {
  return outcome.kind === "applied" ? `${outcome.position}` : outcome.message
}
