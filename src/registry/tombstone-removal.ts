import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { ClusterStore, Revision } from "../ports/store.js"
import { removalAnswered, removeCommit } from "./commits.js"
import { Removal, type RemovalEvent, type RemovalOutcome } from "./destroy.js"
import { stateKey } from "./registry-keys.js"
import type { Tenure } from "./tenure.js"

/** A tombstone of which nothing has to be remembered, as an activation leaves it. */
export interface Leftover {
  /** The revision of the state. */
  readonly revision: Revision
  /** The keys of what leads to it. */
  readonly entries: readonly string[]
}

/**
 * Removes a tombstone, as the last commit of an activation: the driver of `Removal`. Does not reject. If the
 * actor has a placement of its own, that is deleted too, and the doors of the tenure are shut.
 */
export async function removeTombstone(
  tenure: Tenure,
  { revision, entries }: Leftover,
  {
    store,
    clock,
    isShared,
  }: { readonly store: ClusterStore; readonly clock: Clock; readonly isShared: boolean },
): Promise<RemovalOutcome> {
  const { id, incarnation } = tenure
  const state = { key: stateKey(id), revision }
  const removal = new Removal()

  const send = async (): Promise<RemovalEvent> => {
    const { epoch, windows } = incarnation
    await windows.placements.enter()
    try {
      if (!incarnation.mayAct()) return { kind: "gave-up" }
      const placement = { key: tenure.recordKey, generation: tenure.generation, isShared }
      const { conditions, writes } = removeCommit(placement, state, entries)
      const result = await store.commit({ epoch, conditions, writes })
      if (result.kind !== "epoch-changed") return removalAnswered(state.key, result)
      incarnation.epochChanged()
      return { kind: "gave-up" }
    } catch (error) {
      const { commitment } = incarnation.troubles.note("remove a destroyed actor", error)
      if (!(error instanceof StoreUnavailableError)) return { kind: "gave-up" }
      return { kind: "unsure", mayArrive: commitment === "unknown" }
    } finally {
      windows.placements.leave()
    }
  }

  const pause = (): Promise<RemovalEvent> =>
    new Promise((resolve) => {
      clock.setTimer(RETRY_MS, () => resolve({ kind: "waited" }))
    })

  let command = removal.handle({ kind: "begin" })
  while (command.kind !== "end") command = removal.handle(await (command.kind === "wait" ? pause() : send()))
  return command.outcome
}

const RETRY_MS = 100
