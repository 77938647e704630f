import type { CommitResult, Entry } from "../../src/ports/store.js"
import type { Proposal } from "../../src/registry/commits.js"
import type { Bug } from "./bugs.js"
import { PLACEMENT, type Request, type World } from "./world.js"

/**
 * The store. It judges each commit by its conditions alone, and knows no more of leases and placements than a
 * real store does.
 */
export function commitTo(
  world: Keys,
  { conditions, writes, reads = [] }: Pick<Request, "conditions" | "writes" | "reads">,
  bugs: readonly Bug[] = [],
): CommitResult {
  const broken = conditions.filter((condition) => !holds(world, condition))
  if (broken.length > 0) {
    const found = broken.map(({ key }) => ({ key, entry: entryAt(world, key) }))
    return { kind: "refused", found, epoch: EPOCH }
  }
  const isForgotten = bugs.includes("generation-restarts") && revisionAt(world, PLACEMENT) === undefined
  const isPlacing = writes.some(({ key }) => key === PLACEMENT)
  const revision = isForgotten && isPlacing ? 1 : nextRevision(world)
  for (const { key, value } of writes) {
    world.store = world.store.filter((entry) => entry.key !== key)
    if (value !== undefined) world.store.push({ key, revision, value })
  }
  world.store.sort((a, b) => (a.key < b.key ? -1 : 1))
  return { kind: "committed", revision, read: reads.map((key) => entryAt(world, key)) }
}

/** What the store has. */
type Keys = Pick<World, "store">

export function entryAt(world: Keys, key: string): Entry | undefined {
  const stored = world.store.find((entry) => entry.key === key)
  if (stored === undefined) return undefined
  return { key, revision: stored.revision, value: Buffer.from(stored.value, "latin1") }
}

export function revisionAt(world: Keys, key: string): number | undefined {
  return world.store.find((entry) => entry.key === key)?.revision
}

/** Says whether a commit may still be accepted: a revision that has passed never comes back. */
export function isOpen(
  world: Keys,
  { conditions }: Pick<Request, "conditions">,
  bugs: readonly Bug[] = [],
): boolean {
  const mayComeBack = ({ key }: Request["conditions"][number]): boolean =>
    key === PLACEMENT && bugs.includes("generation-restarts")
  return conditions.every(
    (condition) => condition.kind === "absent" || holds(world, condition) || mayComeBack(condition),
  )
}

/** A proposal as plain data. */
export function plain({
  conditions,
  writes,
  reads,
}: Proposal): Pick<Request, "conditions" | "writes" | "reads"> {
  return {
    conditions: conditions.map((condition) => ({ ...condition })),
    writes: writes.map((write) => ({
      key: write.key,
      value: write.kind === "put" ? Buffer.from(write.value).toString("latin1") : undefined,
    })),
    ...(reads === undefined ? {} : { reads: [...reads] }),
  }
}

export const EPOCH = "e"

function holds(world: Keys, condition: Request["conditions"][number]): boolean {
  const revision = revisionAt(world, condition.key)
  return condition.kind === "absent" ? revision === undefined : revision === condition.revision
}

/** Higher than all others: those are ranks, and small. */
function nextRevision({ store }: Keys): number {
  return Math.max(FIRST_NEW, ...store.map(({ revision }) => revision + 1))
}

const FIRST_NEW = 100
