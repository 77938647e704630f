import type { Stage } from "../../src/sim/index.js"
import type { Indexed, Wrote } from "./events.js"
import type { Applied } from "./profile.js"

/**
 * Judges the commits of profiles: each goes on from the one before it, in the same life; a life that has ended
 * writes nothing any more; no version decreases; and no operation is applied twice.
 */
export class ProfileLedger {
  /** The lives that have ended. */
  readonly #ended = new Set<string>()
  readonly #rejected = new Set<number>()
  readonly #lives = new Set<string>()
  /** In which life each operation was applied. */
  readonly #applied = new Map<number, string>()

  constructor(stage: Stage) {
    stage.invariant<Wrote>("Chained", (event) => (event.kind === "profile" ? this.#chained(event) : false))
    stage.invariant<Wrote>("NoResurrection", (event) =>
      event.kind === "profile" ? this.#resurrected(event) : false,
    )
    stage.invariant<Wrote>("RejectedStaysOut", ({ kind, id, after }) => {
      if (kind !== "profile") return false
      const applied = after?.state.applied.find((operation) => this.#rejected.has(operation))
      return applied === undefined ? undefined : `${id} has applied ${applied}, which was rejected`
    })
    stage.invariant<Wrote>("AppliedOnce", (event) =>
      event.kind === "profile" ? this.#appliedTwice(event) : false,
    )
    stage.invariant<Indexed>("IndexExact", (event) => (event.kind === "indexes" ? event.problem : false))
    stage.invariant<Indexed>("UniqueOwner", (event) => (event.kind === "indexes" ? event.shared : false))
    stage.invariant<Wrote>("NoDowngrade", ({ kind, id, before, after }) => {
      if (kind !== "profile" || before === undefined || after === undefined) return false
      if (before.state.life !== after.state.life || after.version >= before.version) return undefined
      return `${id} has version ${after.version} after ${before.version}`
    })
  }

  /** Whether something of this life was stored. */
  hasBegun(life: string): boolean {
    return this.#lives.has(life)
  }

  /** The caller of an operation was told that nothing of it is stored, now or later. */
  rejected(operation: number): void {
    this.#rejected.add(operation)
  }

  /** Whether something of this life is stored, or may be. */
  isAlive(life: string): boolean {
    return this.#lives.has(life) && !this.#ended.has(life)
  }

  /** Whether an operation was applied, and where it says. */
  problemOf(operation: number, { life }: Applied): string | undefined {
    const known = this.#applied.get(operation)
    // One commit may have it and the end of the life.
    const isGone = known === undefined && !this.isAlive(life)
    return isGone || known === life
      ? undefined
      : `${operation} was answered by ${life}, and applied by ${known}`
  }

  /** A stale activation would write a state in which something of the last one is missing. */
  #chained({ id, before, after, isImport }: Wrote): string | undefined {
    if (before === undefined || after === undefined || isImport) return undefined
    const [old, now] = [before.state, after.state]
    if (old.life !== now.life) return `${id} changes from the life ${old.life} to ${now.life}`
    const isKept = old.applied.every((operation, at) => now.applied[at] === operation)
    if (isKept && now.fired >= old.fired) return undefined
    return `${id} has ${now.applied.join()} (${now.fired}) after ${old.applied.join()} (${old.fired})`
  }

  #resurrected({ id, before, after, isImport, reminders }: Wrote): string | undefined {
    const life = after?.state.life
    if (life !== undefined) this.#lives.add(life)
    if (before !== undefined && before.state.life !== life) this.#ended.add(before.state.life)
    const isBorn = before === undefined && life !== undefined && !isImport
    if (isBorn && reminders > 0) return `${id} begins with ${reminders} reminders of an earlier life`
    return life !== undefined && this.#ended.has(life)
      ? `${id} is written by ${life}, which has ended`
      : undefined
  }

  #appliedTwice({ id, after }: Wrote): string | undefined {
    if (after === undefined) return undefined
    const { life, applied } = after.state
    if (new Set(applied).size < applied.length) return `${id} has applied one of ${applied.join()} twice`
    for (const operation of applied) {
      const known = this.#applied.get(operation)
      if (known !== undefined && known !== life) return `${operation} was applied by ${known} and ${life}`
      this.#applied.set(operation, life)
    }
    return undefined
  }
}
