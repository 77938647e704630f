import type { WallMs } from "../ports/clock.js"
import { dueKey } from "./due-writes.js"
import type { DurableOwner, TurnChanges } from "./durable-owner.js"
import type { Admission } from "./recollection.js"

/** Returns how to go on when a keeper has read an entry that is no longer there, or that should not be. */
export async function staleEntry(
  owner: DurableOwner,
  turns: TurnChanges,
  { name, at }: { readonly name: string; readonly at: WallMs },
): Promise<Admission> {
  const key = dueKey(owner, name, at)
  const { entry } = await owner.home.state.store.get(key)
  if (entry === undefined) return { kind: "answer", given: ["gone"] }
  turns.change([{ kind: "delete", key }])
  return { kind: "run", task: { run: () => ["gone"] } }
}
