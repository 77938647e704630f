import type { ClusterStore, Revision } from "../ports/store.js"
import { Adoption, type AdoptionOutcome } from "../registry/adoption.js"
import type { PlacementSeen } from "../registry/claim.js"
import { placementSeen } from "../registry/commits.js"
import type { Incarnation } from "../registry/incarnation.js"

/**
 * Reads the record of a shard that may have been moved to this node: the driver of `registry/adoption.ts`.
 * `spent` is the highest spent generation of the shard.
 */
export async function adoptShard(
  key: string,
  spent: Revision,
  { incarnation, store }: { readonly incarnation: Incarnation; readonly store: ClusterStore },
): Promise<AdoptionOutcome> {
  const adoption = new Adoption(incarnation.node.toString(), spent)
  adoption.handle({ kind: "named" })
  const command = adoption.handle(await readShard(key, incarnation, store))
  if (command?.kind !== "end") throw new Error("an adoption that has read its key did not end")
  return command.outcome
}

async function readShard(
  key: string,
  incarnation: Incarnation,
  store: ClusterStore,
): Promise<
  { readonly kind: "read"; readonly placed: PlacementSeen | undefined } | { readonly kind: "not-read" }
> {
  try {
    const { epoch, entry } = await store.get(key)
    if (epoch === incarnation.epoch) return { kind: "read", placed: placementSeen(entry) }
    incarnation.epochChanged()
  } catch (error) {
    incarnation.troubles.note("read a shard", error)
  }
  return { kind: "not-read" }
}
