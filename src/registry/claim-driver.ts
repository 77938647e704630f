import type { ActorId } from "../address/actor-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ClusterStore, Entry } from "../ports/store.js"
import { Claim, type ClaimCommand, type ClaimEvent, type ClaimOutcome, type Guess } from "./claim.js"
import { claimAnswered, claimCommit, placementSeen } from "./commits.js"
import type { Incarnation } from "./incarnation.js"
import { nodeKey } from "./node-record.js"
import type { Placed } from "./placement-cache.js"
import { placementKey } from "./registry-keys.js"

/**
 * Carries out the commands of one claim (`claim.ts`). Every actor that starts is claimed here, and the frame
 * of an async function is large, so there are few of them.
 */
export class ClaimDriver {
  readonly #key: string
  readonly #incarnation: Incarnation
  readonly #store: ClusterStore

  constructor(id: ActorId, incarnation: Incarnation, store: ClusterStore) {
    this.#key = placementKey(id)
    this.#incarnation = incarnation
    this.#store = store
  }

  async claim(known: Placed | undefined): Promise<ClaimOutcome> {
    const claim = new Claim(this.#incarnation.node.toString())
    const guess =
      known === undefined ? undefined : { node: known.node.toString(), generation: known.generation }
    let command: ClaimCommand = claim.begin(guess)
    for (;;) {
      if (command.kind === "end") return command.outcome
      let event: ClaimEvent
      try {
        event = await this.#do(command)
      } catch (error) {
        const { commitment } = this.#incarnation.troubles.note("claim an actor", error)
        const mayArrive = command.kind === "take" && commitment === "unknown"
        event = { kind: mayArrive ? "unsure" : "failed" }
      }
      const next = claim.handle(event)
      if (next === undefined) throw new Error("a claim got an event that it had not asked for")
      command = next
    }
  }

  #do(command: Exclude<ClaimCommand, { kind: "end" }>): Promise<ClaimEvent> {
    switch (command.kind) {
      case "take":
        return this.#take(command.guess)
      case "read-placement":
        return this.#read(this.#key).then((entry) => ({ kind: "read", placed: placementSeen(entry) }))
      case "read-node":
        return this.#read(nodeKey(command.node)).then((entry) => ({
          kind: "node-read",
          isThere: entry !== undefined,
        }))
    }
  }

  async #take(guess: Guess): Promise<ClaimEvent> {
    const incarnation = this.#incarnation
    const window = incarnation.windows.placements
    const room = window.enter()
    if (room !== undefined) await room
    try {
      // Past the deadline a claim waits with all other doors: if it failed, thousands of claims would be
      // retried again and again until the lease is renewed.
      let mayClaim = incarnation.mayClaim()
      if (!mayClaim) {
        await incarnation.opened()
        mayClaim = incarnation.mayClaim()
      }
      const { record, epoch, node } = incarnation
      if (record === undefined || !mayClaim) return { kind: "failed" }
      const claimer = { node: node.toString(), record }
      const result = await this.#store.commit({ epoch, ...claimCommit(this.#key, claimer, guess) })
      if (result.kind !== "epoch-changed") return claimAnswered(this.#key, claimer.node, guess, result)
      incarnation.epochChanged()
      return { kind: "failed" }
    } finally {
      window.leave()
    }
  }

  /** Rejects in another epoch of the store, whose entries mean nothing to this incarnation. */
  async #read(key: string): Promise<Entry | undefined> {
    const { epoch, entry } = await this.#store.get(key)
    if (epoch === this.#incarnation.epoch) return entry
    this.#incarnation.epochChanged()
    throw new StoreUnavailableError("the epoch of the store has changed", "not-committed")
  }
}
