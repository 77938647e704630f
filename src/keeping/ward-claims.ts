import { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { rendezvous } from "../placement/rendezvous.js"
import type { ClusterStore, Revision } from "../ports/store.js"
import { ClaimDriver } from "../registry/claim-driver.js"
import { placementSeen, releaseCommit } from "../registry/commits.js"
import type { Incarnation } from "../registry/incarnation.js"
import type { Registry } from "../registry/registry.js"
import { WARDS } from "../virtual/due-entry.js"

/**
 * The wards that this node has claimed, of those that are in no shard. All nodes agree on who should have a
 * ward, as far as they know the same members. A node claims a ward as it claims an actor
 * (`registry/claim.ts`), and gives up those that others should have. Two keepers of one ward would only fire
 * twice, of which the actor applies one; so what this node believes to have is not checked again.
 *
 * A record that names a node which does not know of it would keep all others from the ward. So a node that
 * was not told the outcome of a claim, or of a release, reads the record until it knows who has the ward. A
 * claim that hung may even be made after the ward was given up; so a node that finds a ward taken tells the
 * one that has it, which reads the record if it knows nothing of it.
 */
export class WardClaims {
  readonly #registry: Registry
  readonly #store: ClusterStore
  readonly #held = new Map<string, Revision>()
  /** The wards that may be this node's, or may become so by a claim that is still on its way. */
  readonly #unsure = new Set<string>()
  #incarnation: Incarnation | undefined
  #isBusy = false
  readonly #tell: (keeper: NodeId, ward: string) => void

  /** `tell` makes a node look for a ward that its record says it has. */
  constructor(registry: Registry, store: ClusterStore, tell: (keeper: NodeId, ward: string) => void) {
    this.#registry = registry
    this.#store = store
    this.#tell = tell
  }

  get held(): Iterable<string> {
    return this.#registry.incarnation === this.#incarnation ? this.#held.keys() : []
  }

  /** The node that should have the ward, as far as this one knows. */
  keeperOf(ward: string): NodeId | undefined {
    const { members } = this.#registry.view
    const candidates = members.filter(({ status, types }) => status === "up" && types.length > 0)
    if (candidates.length === 0) return undefined
    return rendezvous(ActorId.of("wards", "ward", ward), candidates)
  }

  /** Somebody believes that this node has the ward. */
  doubt(ward: string): void {
    if (!this.#held.has(ward) && ALL.includes(ward)) this.#unsure.add(ward)
  }

  /** Claims what this node should have, and gives up the rest. Does not reject. */
  async follow(): Promise<void> {
    const { incarnation, life } = this.#registry
    if (this.#isBusy || incarnation === undefined || life.phase !== "member") return
    this.#isBusy = true
    try {
      if (incarnation !== this.#incarnation) {
        this.#held.clear()
        this.#unsure.clear()
      }
      this.#incarnation = incarnation
      await Promise.all(ALL.map((ward) => this.#settle(ward, incarnation)))
    } finally {
      this.#isBusy = false
    }
  }

  /** Gives up all wards, as this node leaves. */
  async release(): Promise<void> {
    const { incarnation } = this.#registry
    if (incarnation === undefined || incarnation !== this.#incarnation) return
    await Promise.all([...this.#held.keys()].map((ward) => this.#giveUp(ward, incarnation)))
  }

  #settle(ward: string, incarnation: Incarnation): Promise<void> | undefined {
    const isOwn = this.keeperOf(ward)?.equals(incarnation.node) === true
    if (isOwn !== this.#held.has(ward)) {
      return isOwn ? this.#claim(ward, incarnation) : this.#giveUp(ward, incarnation)
    }
    return !isOwn && this.#unsure.has(ward) ? this.#clearUp(ward, incarnation) : undefined
  }

  async #claim(ward: string, incarnation: Incarnation): Promise<void> {
    const outcome = await new ClaimDriver({ key: wardKey(ward) }, incarnation, this.#store).claim(undefined)
    if (incarnation !== this.#incarnation) return
    if (outcome.kind === "claimed") this.#held.set(ward, outcome.generation)
    if (outcome.kind === "claimed" || outcome.kind === "elsewhere") this.#unsure.delete(ward)
    else this.#unsure.add(ward)
    if (outcome.kind !== "elsewhere") return
    const { node } = outcome.placed
    const keeper = this.#registry.view.members.find((one) => one.node.toString() === node)
    if (keeper !== undefined) this.#tell(keeper.node, ward)
  }

  async #giveUp(ward: string, incarnation: Incarnation): Promise<void> {
    const generation = this.#held.get(ward) as Revision
    this.#held.delete(ward)
    this.#unsure.add(ward)
    await this.#release(ward, generation, incarnation)
  }

  /** Gives up a ward that may be this node's without its knowledge. */
  async #clearUp(ward: string, incarnation: Incarnation): Promise<void> {
    try {
      const seen = placementSeen((await this.#store.get(wardKey(ward))).entry)
      // A claim may still be on its way; once another node has the ward, it is refused.
      if (seen === undefined) return
      if (seen.node === incarnation.node.toString()) await this.#release(ward, seen.generation, incarnation)
      else this.#unsure.delete(ward)
    } catch (error) {
      incarnation.troubles.note("read a ward", error)
    }
  }

  async #release(ward: string, generation: Revision, { epoch, troubles }: Incarnation): Promise<void> {
    try {
      await this.#store.commit({ epoch, ...releaseCommit(wardKey(ward), generation) })
      this.#unsure.delete(ward)
    } catch (error) {
      troubles.note("give up a ward", error)
    }
  }
}

const ALL: readonly string[] = Array.from({ length: WARDS }, (_, ward) => String(ward))

function wardKey(ward: string): string {
  return `wards/${ward}`
}
