import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
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
    try {
      const named = this.#strategyOf(id.type)(id, candidates, this.#context)
      const candidate = candidates.find(({ node }) => node.equals(named))
      if (candidate !== undefined) return { kind: "named", candidate, isNew: true }
      return nobody(`the strategy of the type ${id.type} named ${named}, which is no candidate`)
    } catch (cause) {
      return { kind: "nobody", refusal: { ...because(`the strategy of the type ${id.type} failed`), cause } }
    }
  }
}

function nobody(problem: string): Choice {
  return { kind: "nobody", refusal: because(problem) }
}

function because(problem: string) {
  return { reason: "no-authority", because: problem } as const
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
