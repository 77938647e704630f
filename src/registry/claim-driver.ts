import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ClusterStore, Entry, Revision } from "../ports/store.js"
import { Claim, type ClaimCommand, type ClaimEvent, type ClaimOutcome, type Guess } from "./claim.js"
import { type ClaimedKeys, claimAnswered, claimCommit, placementSeen } from "./commits.js"
import type { Incarnation } from "./incarnation.js"
import { nodeKey } from "./node-record.js"
import type { Placed } from "./placement-cache.js"

/**
 * Carries out the commands of one claim (`claim.ts`). Chains promises, as every actor that starts is claimed
 * here and the frame of an async function is large.
 */
export class ClaimDriver {
  readonly #claimed: ClaimedKeys
  readonly #incarnation: Incarnation
  readonly #store: ClusterStore
  readonly #claim: Claim
  #spent: Revision = 0

  constructor(claimed: ClaimedKeys, incarnation: Incarnation, store: ClusterStore) {
    this.#claimed = claimed
    this.#incarnation = incarnation
    this.#store = store
    this.#claim = new Claim(incarnation.node.toString())
  }

  /**
   * The highest generation of this node's own that a claim was sent on, 0 if there is none. That claim may
   * have hung, so the generation must not be adopted.
   */
  get spent(): Revision {
    return this.#spent
  }

  claim(known: Placed | undefined): Promise<ClaimOutcome> {
    const guess =
      known === undefined ? undefined : { node: known.node.toString(), generation: known.generation }
    return Promise.resolve(this.#carryOut(this.#claim.begin(guess)))
  }

  #carryOut(command: ClaimCommand): ClaimOutcome | Promise<ClaimOutcome> {
    if (command.kind === "end") return command.outcome
    return this.#do(command).then(
      (event) => this.#handle(event),
      (error: unknown) => {
        const { commitment } = this.#incarnation.troubles.note("claim an actor", error)
        const mayArrive = command.kind === "take" && commitment === "unknown"
        return this.#handle({ kind: mayArrive ? "unsure" : "failed" })
      },
    )
  }

  #handle(event: ClaimEvent): ClaimOutcome | Promise<ClaimOutcome> {
    const next = this.#claim.handle(event)
    if (next === undefined) throw new Error("a claim got an event that it had not asked for")
    return this.#carryOut(next)
  }

  #do(command: Exclude<ClaimCommand, { kind: "end" }>): Promise<ClaimEvent> {
    switch (command.kind) {
      case "take":
        return this.#take(command.guess)
      case "read-placement":
        return this.#read(this.#claimed.key).then((entry) => ({ kind: "read", placed: placementSeen(entry) }))
      case "read-node":
        return this.#read(nodeKey(command.node)).then((entry) => ({
          kind: "node-read",
          isThere: entry !== undefined,
        }))
    }
  }

  #take(guess: Guess): Promise<ClaimEvent> {
    const room = this.#incarnation.windows.placements.enter()
    return room === undefined ? this.#takeOnceOpen(guess) : room.then(() => this.#takeOnceOpen(guess))
  }

  /**
   * Past the deadline a claim waits with all other doors: if it failed, thousands of claims would be retried
   * again and again until the lease is renewed.
   */
  #takeOnceOpen(guess: Guess): Promise<ClaimEvent> {
    const incarnation = this.#incarnation
    return incarnation.mayClaim() ? this.#commit(guess) : incarnation.opened().then(() => this.#commit(guess))
  }

  /** Sends the claim if this node may make it, and leaves the window, which was entered before. */
  #commit(guess: Guess): Promise<ClaimEvent> {
    const { record, epoch, node, windows } = this.#incarnation
    const window = windows.placements
    if (record === undefined || !this.#incarnation.mayClaim()) {
      window.leave()
      return Promise.resolve({ kind: "failed" })
    }
    const claimer = { node: node.toString(), record }
    if (guess.kind === "own") this.#spent = guess.generation
    const { conditions, writes, reads } = claimCommit(this.#claimed, claimer, guess)
    return this.#store.commit({ epoch, conditions, writes, reads }).then(
      (result) => {
        window.leave()
        if (result.kind !== "epoch-changed")
          return claimAnswered(this.#claimed.key, claimer.node, guess, result)
        this.#incarnation.epochChanged()
        return { kind: "failed" }
      },
      (error: unknown) => {
        window.leave()
        throw error
      },
    )
  }

  /** Rejects in another epoch of the store, whose entries mean nothing to this incarnation. */
  async #read(key: string): Promise<Entry | undefined> {
    const { epoch, entry } = await this.#store.get(key)
    if (epoch === this.#incarnation.epoch) return entry
    this.#incarnation.epochChanged()
    throw new StoreUnavailableError("the epoch of the store has changed", "not-committed")
  }
}
