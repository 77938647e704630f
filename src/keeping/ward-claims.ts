import { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { rendezvous } from "../placement/rendezvous.js"
import type { ClusterStore, Revision } from "../ports/store.js"
import { ClaimDriver } from "../registry/claim-driver.js"
import { releaseCommit } from "../registry/commits.js"
import type { Incarnation } from "../registry/incarnation.js"
import type { Registry } from "../registry/registry.js"
import { WARDS } from "../virtual/due-entry.js"

/**
 * The wards that this node has claimed, of those that are in no shard. All nodes agree on who should have a
 * ward, as far as they know the same members. A node claims a ward as it claims an actor
 * (`registry/claim.ts`), and gives up those that others should have. Two keepers of one ward would only fire
 * twice, of which the actor applies one; so what this node believes to have is not checked again.
 */
export class WardClaims {
  readonly #registry: Registry
  readonly #store: ClusterStore
  readonly #held = new Map<string, Revision>()
  #incarnation: Incarnation | undefined
  #isBusy = false

  constructor(registry: Registry, store: ClusterStore) {
    this.#registry = registry
    this.#store = store
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

  /** Claims what this node should have, and gives up the rest. Does not reject. */
  async follow(): Promise<void> {
    const { incarnation, life } = this.#registry
    if (this.#isBusy || incarnation === undefined || life.phase !== "member") return
    this.#isBusy = true
    try {
      if (incarnation !== this.#incarnation) this.#held.clear()
      this.#incarnation = incarnation
      const wards = Array.from({ length: WARDS }, (_, ward) => String(ward))
      await Promise.all(wards.map((ward) => this.#settle(ward, incarnation)))
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
    if (isOwn === this.#held.has(ward)) return undefined
    return isOwn ? this.#claim(ward, incarnation) : this.#giveUp(ward, incarnation)
  }

  async #claim(ward: string, incarnation: Incarnation): Promise<void> {
    const outcome = await new ClaimDriver({ key: wardKey(ward) }, incarnation, this.#store).claim(undefined)
    if (outcome.kind === "claimed" && incarnation === this.#incarnation)
      this.#held.set(ward, outcome.generation)
  }

  async #giveUp(ward: string, { epoch, troubles }: Incarnation): Promise<void> {
    const generation = this.#held.get(ward) as Revision
    this.#held.delete(ward)
    try {
      await this.#store.commit({ epoch, ...releaseCommit(wardKey(ward), generation) })
    } catch (error) {
      // The next claim of this node takes it over, or that of another one once this node is gone.
      troubles.note("give up a ward", error)
    }
  }
}

function wardKey(ward: string): string {
  return `wards/${ward}`
}
