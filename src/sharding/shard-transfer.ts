import type { NodeId } from "../address/node-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { ClusterStore, Revision } from "../ports/store.js"
import { placementSeen, releaseCommit, transferAnswered, transferCommit } from "../registry/commits.js"
import type { Incarnation } from "../registry/incarnation.js"
import {
  Transfer,
  type TransferCommand,
  type TransferEvent,
  type TransferOutcome,
} from "../registry/transfer.js"

/**
 * Carries out the transfer of a shard whose doors are shut: the driver of `registry/transfer.ts`. `record` is
 * the revision at which the record of the target is active.
 */
export async function transferShard(
  shard: PassedShard,
  target: { readonly node: NodeId; readonly record: number },
  { store, clock }: { readonly store: ClusterStore; readonly clock: Clock },
): Promise<TransferOutcome> {
  const { incarnation, key, generation } = shard
  const self = incarnation.node.toString()
  const transfer = new Transfer(self, target.node.toString())
  let command: TransferCommand = transfer.begin()
  while (command.kind !== "end") {
    const next: TransferCommand | undefined = transfer.handle(await eventOf(command))
    if (next === undefined) throw new Error("a transfer got an event that it had not asked for")
    command = next
  }
  return command.outcome

  async function eventOf({ kind }: Exclude<TransferCommand, { kind: "end" }>): Promise<TransferEvent> {
    if (incarnation.isFencedOff) return { kind: "gave-up" }
    switch (kind) {
      case "send":
        return await send()
      case "read":
        return await read()
      case "wait":
        return new Promise((resolve) => clock.setTimer(RETRY_MS, () => resolve({ kind: "waited" })))
    }
  }

  async function send(): Promise<TransferEvent> {
    const { epoch, troubles, windows } = incarnation
    const to = { node: target.node.toString(), record: target.record }
    await windows.placements.enter()
    try {
      if (incarnation.isFencedOff) return { kind: "gave-up" }
      const result = await store.commit({ epoch, ...transferCommit(key, generation, to) })
      if (result.kind !== "epoch-changed") return transferAnswered(key, { node: self, generation }, result)
      incarnation.epochChanged()
      return { kind: "gave-up" }
    } catch (error) {
      troubles.note("move a shard", error)
      return { kind: "unsure" }
    } finally {
      windows.placements.leave()
    }
  }

  async function read(): Promise<TransferEvent> {
    try {
      const { epoch, entry } = await store.get(key)
      if (epoch === incarnation.epoch) return { kind: "read", placed: placementSeen(entry) }
      incarnation.epochChanged()
      return { kind: "gave-up" }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      incarnation.troubles.note("read a shard", error)
      return { kind: "not-read" }
    }
  }
}

/** Deletes the record of a shard that nobody can have. If the store does not answer, the record stays. */
export async function releaseShard(shard: PassedShard, store: ClusterStore): Promise<TransferOutcome> {
  const { incarnation, key, generation } = shard
  const { epoch, troubles, windows } = incarnation
  await windows.placements.enter()
  try {
    const result = await store.commit({ epoch, ...releaseCommit(key, generation) })
    if (result.kind === "epoch-changed") incarnation.epochChanged()
  } catch (error) {
    troubles.note("release a shard", error)
  } finally {
    windows.placements.leave()
  }
  // The watch shows who has it, if anybody does.
  return { kind: "lost", placed: undefined }
}

/** A shard that the store gives to this node, at this generation, and that nothing of runs here. */
export interface PassedShard {
  readonly number: number
  /** The key of its record. */
  readonly key: string
  readonly incarnation: Incarnation
  readonly generation: Revision
}

const RETRY_MS = 100
