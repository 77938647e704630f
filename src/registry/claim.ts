import type { Entry, Revision } from "../ports/store.js"

/**
 * How one node comes to host one actor: a decision.
 *
 * A placement is taken by one commit; the first node whose commit is made has the actor, and the revision of
 * that commit is the generation of the activation. The commit is conditioned on the claimer's own record, so
 * that a node whose lease was ended, or that has announced that it leaves, takes nothing; and on the
 * placement, by the node that it names:
 *
 *     none                           the placement is absent
 *     this node                      the placement is at the revision read. This node runs no such
 *                                    activation, or this claim would not have begun: an answer was lost,
 *                                    or a release failed. The generation is a new one all the same
 *     a node whose record is gone    the placement is at the revision read, and the record is absent
 *     a node whose record is there   nothing is committed: that node has the actor, alive or not
 *
 * The commit also reads the state of the actor. After the commit no earlier activation can save, so what it
 * read is the newest state there is, and the usual activation is one request to the store.
 *
 * The claim begins with a guess of the placement, so that the usual claim is one commit and no read. A
 * refusal shows the actual placement, which is the next guess. After an answer that was lost the placement is
 * read; should the first commit arrive later, the second one is refused by it, finds this node's own name,
 * and takes it over.
 */
export class Claim {
  readonly #self: string
  #state: ClaimState
  #attempts: number

  /** `self` is the id of the claiming node; `resumed` continues a claim from its snapshot. */
  constructor(self: string, resumed?: ClaimSnapshot) {
    this.#self = self
    this.#state = resumed?.state ?? { kind: "new" }
    this.#attempts = resumed?.attempts ?? 0
  }

  get snapshot(): ClaimSnapshot {
    return { state: this.#state, attempts: this.#attempts }
  }

  /** `placed` is a guess: of a placement whose node may be gone, or this one. */
  begin(placed: PlacementSeen | undefined): ClaimCommand {
    if (placed === undefined) return this.#take({ kind: "nothing" })
    if (placed.node === this.#self) return this.#take({ kind: "own", generation: placed.generation })
    return this.#take({ kind: "orphan", generation: placed.generation, node: placed.node })
  }

  handle(event: ClaimEvent): ClaimCommand | undefined {
    const { kind } = this.#state
    switch (event.kind) {
      case "committed":
        return kind === "taking" ? this.#claimed(event) : undefined
      case "refused":
        return kind === "taking" ? this.#refused(event) : undefined
      case "unsure":
        return kind === "taking" ? this.#enter({ kind: "reading" }, { kind: "read-placement" }) : undefined
      case "read":
        return kind === "reading" ? this.#found(event.placed) : undefined
      case "node-read":
        return this.#state.kind === "judging" ? this.#judged(this.#state.placed, event.isThere) : undefined
      case "failed":
        return kind === "ended" ? undefined : this.#end({ kind: "unavailable" })
    }
  }

  #claimed({ generation, state }: CommittedClaim): ClaimCommand {
    return this.#end({ kind: "claimed", generation, state })
  }

  #refused({ ownRecord, ownerRecord, placed }: RefusedClaim): ClaimCommand {
    if (!ownRecord) return this.#end({ kind: "not-a-member" })
    // The guess was right about the placement, and its node is still on record.
    if (ownerRecord && placed === "as thought") {
      const { guess } = this.#state as { guess: Guess & { kind: "orphan" } }
      return this.#end({ kind: "elsewhere", placed: { node: guess.node, generation: guess.generation } })
    }
    return placed === "as thought" ? this.#take((this.#state as { guess: Guess }).guess) : this.#found(placed)
  }

  #found(placed: PlacementSeen | undefined): ClaimCommand {
    if (placed === undefined) return this.#take({ kind: "nothing" })
    if (placed.node === this.#self) return this.#take({ kind: "own", generation: placed.generation })
    return this.#enter({ kind: "judging", placed }, { kind: "read-node", node: placed.node })
  }

  #judged(placed: PlacementSeen, isThere: boolean): ClaimCommand {
    if (isThere) return this.#end({ kind: "elsewhere", placed })
    return this.#take({ kind: "orphan", generation: placed.generation, node: placed.node })
  }

  #take(guess: Guess): ClaimCommand {
    if (this.#attempts === MAX_ATTEMPTS) return this.#end({ kind: "unavailable" })
    this.#attempts += 1
    return this.#enter({ kind: "taking", guess }, { kind: "take", guess })
  }

  #end(outcome: ClaimOutcome): ClaimCommand {
    return this.#enter({ kind: "ended" }, { kind: "end", outcome })
  }

  #enter(state: ClaimState, command: ClaimCommand): ClaimCommand {
    this.#state = state
    return command
  }
}

/** Other nodes may be first again and again; then one of them has the actor, or has just released it. */
const MAX_ATTEMPTS = 16

/** A placement as it was read from the store: the id of its node, and its revision. */
export interface PlacementSeen {
  readonly node: string
  readonly generation: Revision
}

/** What the claim takes the placement to be. */
export type Guess =
  | { readonly kind: "nothing" }
  | { readonly kind: "own"; readonly generation: Revision }
  | { readonly kind: "orphan"; readonly generation: Revision; readonly node: string }

type ClaimState =
  | { readonly kind: "new" }
  | { readonly kind: "taking"; readonly guess: Guess }
  | { readonly kind: "reading" }
  | { readonly kind: "judging"; readonly placed: PlacementSeen }
  | { readonly kind: "ended" }

export interface ClaimSnapshot {
  readonly state: ClaimState
  readonly attempts: number
}

interface CommittedClaim {
  readonly kind: "committed"
  readonly generation: Revision
  readonly state?: StateRead | undefined
}

/** The state of an actor, as the commit of its claim has read it. */
export interface StateRead {
  /** Undefined if there is no state. */
  readonly entry: Entry | undefined
}

interface RefusedClaim {
  readonly kind: "refused"
  /** Whether this node's record is at the revision that the node knows. */
  readonly ownRecord: boolean
  /** Whether the record of the node that the guess names is there. */
  readonly ownerRecord: boolean
  /** The placement that was found, if it is not the one of the guess. */
  readonly placed: PlacementSeen | undefined | "as thought"
}

export type ClaimEvent =
  | CommittedClaim
  | RefusedClaim
  /** Whether the commit was made is not known. */
  | { readonly kind: "unsure" }
  | { readonly kind: "read"; readonly placed: PlacementSeen | undefined }
  | { readonly kind: "node-read"; readonly isThere: boolean }
  /** The store did not answer, or this node may no longer claim. */
  | { readonly kind: "failed" }

export type ClaimCommand =
  /** Write the placement, on the conditions of the guess, and that the own record has not changed. */
  | { readonly kind: "take"; readonly guess: Guess }
  | { readonly kind: "read-placement" }
  | { readonly kind: "read-node"; readonly node: string }
  | { readonly kind: "end"; readonly outcome: ClaimOutcome }

export type ClaimOutcome =
  /** `state` is undefined if the commit did not read it. */
  | { readonly kind: "claimed"; readonly generation: Revision; readonly state?: StateRead | undefined }
  /** Another node has the actor. */
  | { readonly kind: "elsewhere"; readonly placed: PlacementSeen }
  /** This node's record is gone, or has another status: the node has to check its lease. */
  | { readonly kind: "not-a-member" }
  | { readonly kind: "unavailable" }
