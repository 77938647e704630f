import type { ActorId } from "../address/actor-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ClusterStore, Entry } from "../ports/store.js"
import { Claim, type ClaimCommand, type ClaimEvent, type ClaimOutcome, type Guess } from "./claim.js"
import { claimAnswered, claimCommit, placementSeen } from "./commits.js"
import type { Incarnation } from "./incarnation.js"
import { nodeKey } from "./node-record.js"
import type { Placed } from "./placement-cache.js"
import { placementKey } from "./registry-keys.js"

/** Carries out the commands of one claim (`claim.ts`). */
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
      const next = claim.handle(await this.#do(command))
      if (next === undefined) throw new Error("a claim got an event that it had not asked for")
      command = next
    }
  }

  async #do(command: Exclude<ClaimCommand, { kind: "end" }>): Promise<ClaimEvent> {
    try {
      switch (command.kind) {
        case "take":
          return await this.#take(command.guess)
        case "read-placement":
          return { kind: "read", placed: placementSeen(await this.#read(this.#key)) }
        case "read-node":
          return { kind: "node-read", isThere: (await this.#read(nodeKey(command.node))) !== undefined }
      }
    } catch (error) {
      const { commitment } = this.#incarnation.troubles.note("claim an actor", error)
      const mayArrive = command.kind === "take" && commitment === "unknown"
      return { kind: mayArrive ? "unsure" : "failed" }
    }
  }

  async #take(guess: Guess): Promise<ClaimEvent> {
    const window = this.#incarnation.windows.placements
    const room = window.enter()
    if (room !== undefined) await room
    try {
      return await this.#commit(guess)
    } finally {
      window.leave()
    }
  }

  async #commit(guess: Guess): Promise<ClaimEvent> {
    // Past the deadline a claim waits with all other doors: if it failed, thousands of claims would be
    // retried again and again until the lease is renewed.
    if (!this.#incarnation.mayClaim()) await this.#incarnation.opened()
    const { record, epoch, node } = this.#incarnation
    if (record === undefined || !this.#incarnation.mayClaim()) return { kind: "failed" }
    const claimer = { node: node.toString(), record }
    const result = await this.#store.commit({ epoch, ...claimCommit(this.#key, claimer, guess) })
    if (result.kind !== "epoch-changed") return claimAnswered(this.#key, claimer.node, guess, result)
    this.#incarnation.epochChanged()
    return { kind: "failed" }
  }

  /** Rejects in another epoch of the store, whose entries mean nothing to this incarnation. */
  async #read(key: string): Promise<Entry | undefined> {
    const { epoch, entry } = await this.#store.get(key)
    if (epoch === this.#incarnation.epoch) return entry
    this.#incarnation.epochChanged()
    throw new StoreUnavailableError("the epoch of the store has changed", "not-committed")
  }
}
