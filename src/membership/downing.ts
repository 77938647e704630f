import { shownKind } from "../address/quote.js"
import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { SplitBrainDecision, SplitBrainSituation, SplitBrainStrategy } from "./split-brain.js"

/**
 * Decides when the strategy is asked which side of a partition survives, and what follows from its answer: a
 * decision.
 *
 * A crash of several nodes, or a partition, is not noticed at one moment: while it unfolds, the sides look
 * different from one second to the next, and a strategy that is asked too early may keep two of them. So the
 * members and those that are unreachable must be the same for `stableAfterMs`; each change starts the time
 * again. Nodes that begin to join do not, as they count for no side, and figures do not.
 *
 * A process that is paused sees no changes, so a pause is not counted: the time is measured in STEPS, and a
 * step that comes late by more than another one postpones the decision by as much, and by one step at least.
 * Otherwise a node would decide by the view of before its pause, ahead of all that has arrived meanwhile.
 *
 * The command is given again after each further `stableAfterMs` in the same situation, because the commit or
 * the gossip that was to carry it out may have been lost.
 *
 * A node that is still joining decides nothing. It has seen the moves of the leader only in part, it counts
 * for no side, and it does not act yet.
 *
 * A strategy that throws, or returns something else than a decision, counts as one that does not let this
 * side survive. Nobody knows what it decides on the other side, where it may well have returned; and a side
 * that shuts down joins again, while two sides that survive both act. To wait instead would leave the
 * unreachable nodes members for ever, and what they host unavailable.
 */
export class Downing {
  readonly #terms: DowningTerms
  #situation: SplitBrainSituation | undefined
  #key = ""
  /** When the strategy is asked; undefined while there is nothing to ask. */
  #dueAt: MonotonicMs | undefined
  /** When this process shows next that it runs. */
  #stepAt: MonotonicMs = 0

  constructor(terms: DowningTerms) {
    this.#terms = terms
  }

  /** When `tick` is due; undefined while all are reachable, and while this node is joining. */
  get wakeAt(): MonotonicMs | undefined {
    return this.#dueAt === undefined ? undefined : Math.min(this.#dueAt, this.#stepAt)
  }

  /**
   * The view is now this one, whether or not it has changed. `isMember` says whether this node is more than
   * joining, which it may be in the situation although it has come up.
   */
  viewed(situation: SplitBrainSituation, isMember: boolean, now: MonotonicMs): void {
    assert(!situation.unreachable.has(situation.self.text), "a node found itself unreachable")
    this.#situation = situation
    const unreachable = unreachableNodes(situation)
    const key = isMember ? keyOf(situation, unreachable) : ""
    if (key === this.#key) return
    this.#key = key
    this.#dueAt = isMember && unreachable.length > 0 ? now + this.#terms.stableAfterMs : undefined
    this.#stepAt = now + this.#stepMs
  }

  /** Returns what to do now: nothing before `wakeAt`, and most often nothing then. */
  tick(now: MonotonicMs): DowningCommand | undefined {
    const { wakeAt } = this
    if (this.#situation === undefined || this.#dueAt === undefined || wakeAt === undefined) return undefined
    if (now < wakeAt) return undefined
    this.#stepAt = now + this.#stepMs
    const lateMs = now - wakeAt
    if (lateMs > this.#stepMs) this.#dueAt = Math.max(this.#dueAt + lateMs, this.#stepAt)
    if (now < this.#dueAt) return undefined
    this.#dueAt = now + this.#terms.stableAfterMs
    return this.#decide(this.#situation)
  }

  get #stepMs(): number {
    return this.#terms.stableAfterMs / STEPS
  }

  #decide(situation: SplitBrainSituation): DowningCommand {
    try {
      const { survive, because } = checkDecision(this.#terms.strategy(situation))
      return survive
        ? { kind: "down", nodes: unreachableNodes(situation), because }
        : { kind: "down-self", because }
    } catch (fault) {
      return { kind: "down-self", because: "the split-brain strategy failed", fault }
    }
  }
}

/** In how many steps the time is measured. */
const STEPS = 10

/** The settings `splitBrain`, with their defaults. */
export interface DowningTerms {
  readonly strategy: SplitBrainStrategy
  /** How long members and reachability must be unchanged before the strategy is asked. */
  readonly stableAfterMs: number
}

type DowningCommand =
  /** Declare these nodes down. The ids are sorted. */
  | { readonly kind: "down"; readonly nodes: readonly string[]; readonly because: string }
  /** Give up this incarnation, and join again. */
  | {
      readonly kind: "down-self"
      readonly because: string
      /** The error that the strategy threw, or one that describes what it returned instead of a decision. */
      readonly fault?: unknown
    }

/** Returns the members and joining nodes that are unreachable, sorted. */
function unreachableNodes({ members, joining, unreachable }: SplitBrainSituation): readonly string[] {
  return [...members, ...joining]
    .map(({ node }) => node.text)
    .filter((node) => unreachable.has(node))
    .sort()
}

/** Returns a text that differs if the members, their states or the unreachable nodes do. */
function keyOf({ members }: SplitBrainSituation, unreachable: readonly string[]): string {
  const states = members.map(({ node, status }) => `${node.text} ${status}`).sort()
  return [...states, "unreachable", ...unreachable].join("\n")
}

function checkDecision(value: unknown): SplitBrainDecision {
  const { survive, because, then } = (value ?? {}) as Partial<SplitBrainDecision & PromiseLike<unknown>>
  if (typeof survive === "boolean" && typeof because === "string") return { survive, because }
  const isPromise = typeof then === "function"
  // Nobody else handles a rejection of it, which would end the process.
  if (isPromise) Promise.resolve(value).catch(() => {})
  const rule = "the split-brain strategy must return { survive: boolean, because: string }"
  throw new TypeError(
    isPromise
      ? `${rule} (got a promise); it must decide at once, so it cannot be async`
      : `${rule} (got ${shownKind(value)})`,
  )
}
