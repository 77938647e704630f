import type { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { shownKind } from "../address/quote.js"
import type { Random } from "../ports/random.js"
import type { Revision } from "../ports/store.js"
import { NamedAuthorities } from "./named-authorities.js"
import { OwnPlacements } from "./own-placements.js"
import type { PlacementContext, PlacementStrategy } from "./placement-strategy.js"
import type { PlacementWish, Refusal } from "./resolution.js"
import type { Candidate } from "./topology.js"

/** Who is to host an actor that is nowhere: what was said of it before, or else what the strategy of its type says. */
export class Authorities {
  readonly #self: NodeId
  readonly #strategyOf: (type: string) => PlacementStrategy
  readonly #context: PlacementContext
  readonly #named: NamedAuthorities
  readonly #own = new OwnPlacements()

  constructor({ self, strategyOf, random, limit }: AuthoritiesOptions) {
    this.#self = self
    this.#strategyOf = strategyOf
    this.#named = new NamedAuthorities(limit)
    this.#context = { self, random, load: (candidate) => this.#own.loadOf(candidate) }
  }

  choose(id: ActorId, hosts: readonly Candidate[], question: AuthorityQuestion): Choice {
    if (hosts.length === 0) return nobody(`no member hosts the type ${id.type}`)
    const { wish, hitherto, since } = question
    const { here, except = [] } = wish
    const candidates = hosts.filter(({ node }) => !except.some((one) => one.equals(node)))
    if (candidates.length === 0) return nobody(`every member that hosts the type ${id.type} has refused`)
    const candidateFor = (node: NodeId | undefined) =>
      node && candidates.find((candidate) => candidate.node.equals(node))
    const wished = here ? candidateFor(this.#self) : undefined
    if (wished !== undefined) return { kind: "named", candidate: wished, isNew: true }
    const before = since === undefined ? undefined : candidateFor(this.#named.of(id.toString(), since))
    if (before !== undefined) return { kind: "named", candidate: before, isNew: false }
    const kept = candidateFor(hitherto)
    if (kept !== undefined) return { kind: "named", candidate: kept, isNew: true }
    return this.#ask(id, candidates)
  }

  /** A message goes to the candidate, which is to claim the actor; others to the same actor follow it. */
  sendTo(id: ActorId, candidate: Candidate, since: Revision): void {
    this.#named.add(id.toString(), candidate.node, since)
    this.#own.add(candidate)
  }

  /** This node tries to claim it. */
  claim(id: ActorId, hosts: readonly Candidate[]): void {
    this.#named.forget(id.toString())
    this.#own.add(hosts.find(({ node }) => node.equals(this.#self)) ?? { node: this.#self })
  }

  /** The claim came to nothing. */
  unclaim(): void {
    this.#own.remove(this.#self)
  }

  keepOnly(isThere: (node: NodeId) => boolean): void {
    this.#own.keepOnly(isThere)
  }

  list(): readonly { readonly id: string; readonly node: NodeId }[] {
    return this.#named.list()
  }

  /** The strategy may be the user's own, and is not trusted to name a candidate, or anything. */
  #ask(id: ActorId, candidates: readonly Candidate[]): Choice {
    let named: unknown
    try {
      named = this.#strategyOf(id.type)(id, candidates, this.#context)
    } catch (error) {
      return failed(id.type, thrownText(error), error)
    }
    const candidate = named instanceof NodeId ? candidates.find(({ node }) => node.equals(named)) : undefined
    if (candidate !== undefined) return { kind: "named", candidate, isNew: true }
    return failed(id.type, misnamedText(named))
  }
}

function nobody(problem: string): Choice {
  return { kind: "nobody", refusal: { reason: "no-authority", because: problem } }
}

function failed(type: string, problem: string, error?: unknown): Choice {
  const because = `the placement strategy of ${type} ${problem}`
  const cause = error instanceof Error ? error : new TypeError(because)
  return { kind: "nobody", refusal: { reason: "no-authority", because, cause } }
}

/** What is thrown may be anything, also what cannot be printed. */
function thrownText(error: unknown): string {
  try {
    if (error instanceof Error) return `threw: ${String(error.message)}`
  } catch {}
  return "threw something that is no error"
}

function misnamedText(named: unknown): string {
  if (named instanceof NodeId) return `named ${named}, which is no candidate`
  if (named instanceof Promise) {
    // Nobody waits for it, so nobody is to be told how it fails.
    named.catch(() => {})
    return "gave a promise; it must give the node of a candidate at once"
  }
  return `named ${shownKind(named)}; it must give the node of a candidate`
}

export interface AuthoritiesOptions {
  readonly self: NodeId
  readonly strategyOf: (type: string) => PlacementStrategy
  readonly random: Pick<Random, "uint32">
  /** How many actors that are nowhere yet are remembered with the node that was named for them. */
  readonly limit: number
}

export interface AuthorityQuestion {
  readonly wish: PlacementWish
  /** Named before the store was asked. */
  readonly hitherto?: NodeId | undefined
  /** The revision at which nothing live was placed, where that is known. */
  readonly since: Revision | undefined
}

export type Choice =
  /** `isNew`: nothing has been sent its way for this actor. */
  | { readonly kind: "named"; readonly candidate: Candidate; readonly isNew: boolean }
  | { readonly kind: "nobody"; readonly refusal: Refusal }
