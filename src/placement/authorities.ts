import type { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { shownKind } from "../address/quote.js"
import type { Random } from "../ports/random.js"
import type { Revision } from "../ports/store.js"
import type { Candidate, PlacementOptions, Refusal } from "./placement-protocol.js"
import type { PlacementContext, PlacementStrategy } from "./strategies.js"

/**
 * Names the authority of an actor that has no live placement, which is the node that should claim it: the
 * node that was named before, or else the strategy's choice.
 */
export class Authorities {
  readonly #self: NodeId
  readonly #strategyOf: (type: string) => PlacementStrategy
  readonly #context: PlacementContext
  readonly #named: NamedAuthorities
  readonly #recent = new RecentPlacements()

  constructor({ self, strategyOf, random, limit }: AuthoritiesOptions) {
    this.#self = self
    this.#strategyOf = strategyOf
    this.#named = new NamedAuthorities(limit)
    this.#context = { self, random, load: (candidate) => this.#recent.loadOf(candidate) }
  }

  choose(id: ActorId, hosts: readonly Candidate[], question: AuthorityQuestion): Choice {
    if (hosts.length === 0) return none(`no member hosts the type ${id.type}`)
    const { options, previousAuthority, since } = question
    const { here, excluded } = options
    const candidates =
      excluded === undefined ? hosts : hosts.filter(({ node }) => !excluded.some((one) => one.equals(node)))
    if (candidates.length === 0) return none(`every member that hosts the type ${id.type} has refused`)
    const own = here ? candidateOf(this.#self, candidates) : undefined
    if (own !== undefined) return { kind: "named", candidate: own, isNew: true }
    const known = since === undefined ? undefined : this.#named.get(id.name, since)
    const named = candidateOf(known, candidates)
    if (named !== undefined) return { kind: "named", candidate: named, isNew: false }
    const previous = candidateOf(previousAuthority, candidates)
    if (previous !== undefined) return { kind: "named", candidate: previous, isNew: true }
    return this.#ask(id, candidates)
  }

  /**
   * Records that a message is sent to the candidate, which will claim the actor. Later messages to the actor
   * are sent to the same node.
   */
  sendTo(id: ActorId, candidate: Candidate, since: Revision): void {
    this.#named.add(id.name, candidate.node, since)
    this.#recent.add(candidate)
  }

  /** Records that this node tries to claim the actor. */
  claim(id: ActorId, hosts: readonly Candidate[]): void {
    this.#named.delete(id.name)
    this.#recent.add(candidateOf(this.#self, hosts) ?? { node: this.#self })
  }

  /** Records that a claim of this node failed, or was released unused. */
  unclaim(): void {
    this.#recent.remove(this.#self)
  }

  /** Drops the loads of nodes that are not members. */
  keepOnly(isMember: (node: NodeId) => boolean): void {
    this.#recent.keepOnly(isMember)
  }

  /** Lists the actors without a live placement and the nodes named for them, oldest first. */
  list(): readonly { readonly id: string; readonly node: NodeId }[] {
    return this.#named.list()
  }

  /** Asks the strategy. It may be user code, so its result is checked to be the node of a candidate. */
  #ask(id: ActorId, candidates: readonly Candidate[]): Choice {
    let named: unknown
    try {
      named = this.#strategyOf(id.type)(id, candidates, this.#context)
    } catch (error) {
      return failed(id.type, thrownText(error), error)
    }
    const candidate = named instanceof NodeId ? candidateOf(named, candidates) : undefined
    if (candidate !== undefined) return { kind: "named", candidate, isNew: true }
    return failed(id.type, misnamedText(named))
  }
}

function candidateOf(node: NodeId | undefined, candidates: readonly Candidate[]): Candidate | undefined {
  return node && candidates.find((candidate) => candidate.node.equals(node))
}

function none(problem: string): Choice {
  return { kind: "none", refusal: { reason: "no-authority", because: problem } }
}

function failed(type: string, problem: string, error?: unknown): Choice {
  const because = `the placement strategy of ${type} ${problem}`
  const cause = error instanceof Error ? error : new TypeError(because)
  return { kind: "none", refusal: { reason: "no-authority", because, cause } }
}

/** Describes a thrown value, which may be any value, including one that throws when it is printed. */
function thrownText(error: unknown): string {
  try {
    if (error instanceof Error) return `threw: ${String(error.message)}`
  } catch {}
  return "threw a value that is not an error"
}

function misnamedText(named: unknown): string {
  if (named instanceof NodeId) return `named ${named}, which is not a candidate`
  if (named instanceof Promise) {
    // The promise is not awaited; without a handler its rejection would count as unhandled.
    named.catch(() => {})
    return "returned a promise; it must return the node of a candidate synchronously"
  }
  return `returned ${shownKind(named)}; it must return the node of a candidate`
}

/**
 * The nodes that were named for actors without a placement, until these have one.
 *
 * A second message to the same actor may follow before the first has started it. It has to go to the same
 * node: otherwise the actor may be claimed by another one, and the second message overtakes the first. But a
 * strategy that chooses at random, or sees a new member, may name another node for the second message.
 * Therefore a name is valid until a newer revision of the placement is known.
 *
 * The number of names is limited. When the younger half is full the older half is dropped, which needs no
 * bookkeeping for each entry. Dropping a name too early can at worst reorder two messages that are sent
 * while the actor is being started.
 */
class NamedAuthorities {
  readonly #halfLimit: number
  #young = new Map<string, Named>()
  #old = new Map<string, Named>()

  constructor(limit: number) {
    this.#halfLimit = Math.max(1, Math.floor(limit / 2))
  }

  add(id: string, node: NodeId, since: Revision): void {
    if (this.#young.size >= this.#halfLimit) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#old.delete(id)
    this.#young.set(id, { node, since })
  }

  /** Returns undefined if the name is older than `since`, the newest known revision of the placement. */
  get(id: string, since: Revision): NodeId | undefined {
    const named = this.#young.get(id) ?? this.#old.get(id)
    return named === undefined || named.since < since ? undefined : named.node
  }

  delete(id: string): void {
    this.#young.delete(id)
    this.#old.delete(id)
  }

  list(): readonly { readonly id: string; readonly node: NodeId }[] {
    return [...this.#old, ...this.#young].map(([id, { node }]) => ({ id, node }))
  }
}

interface Named {
  readonly node: NodeId
  /** The revision at which no live placement existed. */
  readonly since: Revision
}

/**
 * Counts the actors that this node has placed on each node since that node last reported its load. Loads are
 * reported about once a second; without the count, a burst of new actors would be placed by the same outdated
 * load. When the reported load changes the count restarts, as the new load includes most of these actors.
 */
class RecentPlacements {
  readonly #counts = new Map<string, Count>()

  loadOf({ node, load }: Candidate): number {
    const entry = this.#counts.get(node.toString())
    return (load ?? 0) + (entry !== undefined && entry.load === load ? entry.count : 0)
  }

  add({ node, load }: Candidate): void {
    const entry = this.#counts.get(node.toString())
    if (entry !== undefined && entry.load === load) entry.count += 1
    else this.#counts.set(node.toString(), { node, load, count: 1 })
  }

  remove(node: NodeId): void {
    const entry = this.#counts.get(node.toString())
    if (entry !== undefined && entry.count > 0) entry.count -= 1
  }

  keepOnly(isMember: (node: NodeId) => boolean): void {
    for (const [text, { node }] of this.#counts) if (!isMember(node)) this.#counts.delete(text)
  }
}

interface Count {
  readonly node: NodeId
  /** The reported load to which the count is added. */
  readonly load: number | undefined
  count: number
}

interface AuthoritiesOptions {
  readonly self: NodeId
  readonly strategyOf: (type: string) => PlacementStrategy
  readonly random: Pick<Random, "uint32">
  /** The maximum number of actors without a placement for which the named node is kept. */
  readonly limit: number
}

interface AuthorityQuestion {
  readonly options: PlacementOptions
  /** The node that was named before the placement was read from the store. */
  readonly previousAuthority?: NodeId | undefined
  /** The revision at which no live placement existed, if known. */
  readonly since: Revision | undefined
}

type Choice =
  /** `isNew`: no message for this actor has been sent to the candidate yet. */
  | { readonly kind: "named"; readonly candidate: Candidate; readonly isNew: boolean }
  | { readonly kind: "none"; readonly refusal: Refusal }
