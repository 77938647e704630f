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
    switch (command.kind) {
      case "end":
        return command.outcome
      case "take":
        return this.#take(command.guess)
      case "read-placement":
        return this.#read(this.#claimed.key, (entry) => ({ kind: "read", placed: placementSeen(entry) }))
      case "read-node":
        return this.#read(nodeKey(command.node), (entry) => ({
          kind: "node-read",
          isThere: entry !== undefined,
        }))
    }
  }

  #handle(event: ClaimEvent): ClaimOutcome | Promise<ClaimOutcome> {
    const next = this.#claim.handle(event)
    if (next === undefined) throw new Error("a claim got an event that it had not asked for")
    return this.#carryOut(next)
  }

  #take(guess: Guess): Promise<ClaimOutcome> {
    const room = this.#incarnation.windows.placements.enter()
    return room === undefined ? this.#takeOnceOpen(guess) : room.then(() => this.#takeOnceOpen(guess))
  }

  /**
   * Past the deadline a claim waits with all other doors: if it failed, thousands of claims would be retried
   * again and again until the lease is renewed.
   */
  #takeOnceOpen(guess: Guess): Promise<ClaimOutcome> {
    const record = this.#record
    return record === undefined ? this.#takeLater(guess) : this.#commit(guess, record)
  }

  async #takeLater(guess: Guess): Promise<ClaimOutcome> {
    const { windows } = this.#incarnation
    await this.#incarnation.opened()
    const record = this.#record
    if (record !== undefined) return this.#commit(guess, record)
    windows.placements.leave()
    return this.#handle({ kind: "failed" })
  }

  /** The revision of this node's record, if the node may claim now. */
  get #record(): Revision | undefined {
    return this.#incarnation.mayClaim() ? this.#incarnation.record : undefined
  }

  /** Sends the claim, and leaves the window, which was entered before. */
  #commit(guess: Guess, record: Revision): Promise<ClaimOutcome> {
    const { epoch, node, windows } = this.#incarnation
    const window = windows.placements
    const claimer = { node: node.toString(), record }
    if (guess.kind === "own") this.#spent = guess.generation
    const { conditions, writes, reads } = claimCommit(this.#claimed, claimer, guess)
    return this.#store.commit({ epoch, conditions, writes, reads }).then(
      (result) => {
        window.leave()
        if (result.kind === "epoch-changed") return this.#epochChanged()
        return this.#handle(claimAnswered(this.#claimed.key, claimer.node, guess, result))
      },
      (error: unknown) => {
        window.leave()
        const { commitment } = this.#incarnation.troubles.note("claim an actor", error)
        return this.#handle({ kind: commitment === "unknown" ? "unsure" : "failed" })
      },
    )
  }

  #read(key: string, eventOf: (entry: Entry | undefined) => ClaimEvent): Promise<ClaimOutcome> {
    return this.#store.get(key).then(
      ({ epoch, entry }) =>
        epoch === this.#incarnation.epoch ? this.#handle(eventOf(entry)) : this.#epochChanged(),
      (error: unknown) => {
        this.#incarnation.troubles.note("claim an actor", error)
        return this.#handle({ kind: "failed" })
      },
    )
  }

  /** The entries of another epoch of the store mean nothing to this incarnation. */
  #epochChanged(): ClaimOutcome | Promise<ClaimOutcome> {
    this.#incarnation.epochChanged()
    return this.#handle({ kind: "failed" })
  }
}
