import type { Revision } from "../ports/store.js"
import type { PlacementSeen } from "./claim.js"

/**
 * How one node comes to run what was transferred to it, without a commit: the target's decision.
 *
 * The mover's commit has named this node already, so nothing has to be written. But a notice that says so
 * proves nothing: it may be late or doubled, and what it tells of may have moved on since. The same goes for
 * a call from a node that believes that this one has the key. So either only makes this node read the key:
 *
 *     reading --> ended: adopted       the key names this very incarnation, at a generation that is not spent
 *        |   \--> ended: claim         it names this incarnation, at a spent generation
 *        |    \-> ended: elsewhere     it names another node, or nobody
 *        +------> reading              it does not name this node, and another notice came meanwhile
 *
 * A generation is *spent* once this node has run anything under it, or has sent a commit that is conditioned
 * on it: a claim of its own key, a transfer, a release. What was sent may have hung. It could arrive after
 * the node has begun to run under that generation again, and would make a later one while the doors of this
 * one are open. A spent generation is therefore replaced by a claim (`claim.ts`), as is every placement that
 * names a node that runs nothing.
 *
 * Generations only grow, so the highest one that is spent stands for all of them. A node remembers it until
 * the store has shown a later one.
 *
 * The generation of the notice is not compared. Whichever one the store shows is this node's own until this
 * node gives it up, as no other node changes a key that names a node with a record.
 *
 * One attempt at a time is made for a key, and none while this node runs, claims or moves it: an answer from
 * before the claim would otherwise be believed after it.
 */
export class Adoption {
  readonly #self: string
  readonly #spent: Revision
  #state: AdoptionSnapshot

  /** `spent` is the highest spent generation of the key; 0 if there is none. */
  constructor(self: string, spent: Revision, resumed?: AdoptionSnapshot) {
    this.#self = self
    this.#spent = spent
    this.#state = resumed ?? "new"
  }

  get snapshot(): AdoptionSnapshot {
    return this.#state
  }

  handle(event: AdoptionEvent): AdoptionCommand | undefined {
    const isReading = this.#state === "reading" || this.#state === "reading, named again"
    switch (event.kind) {
      case "named":
        if (this.#state === "new") return this.#read()
        if (isReading) this.#state = "reading, named again"
        return undefined
      case "read":
        return isReading ? this.#found(event.placed) : undefined
      case "not-read":
        return isReading ? this.#end({ kind: "unavailable" }) : undefined
    }
  }

  #found(placed: PlacementSeen | undefined): AdoptionCommand {
    if (placed?.node === this.#self) {
      const { generation } = placed
      return this.#end({ kind: generation > this.#spent ? "adopted" : "claim", generation })
    }
    // The read may have been served before the transfer that the later notice tells of.
    if (this.#state === "reading, named again") return this.#read()
    return this.#end({ kind: "elsewhere", placed })
  }

  #read(): AdoptionCommand {
    this.#state = "reading"
    return { kind: "read" }
  }

  #end(outcome: AdoptionOutcome): AdoptionCommand {
    this.#state = "ended"
    return { kind: "end", outcome }
  }
}

/** All that is known between two events is the state. */
export type AdoptionSnapshot = "new" | "reading" | "reading, named again" | "ended"

export type AdoptionEvent =
  /** A notice, or a call, says that this node has the key. */
  | { readonly kind: "named" }
  | { readonly kind: "read"; readonly placed: PlacementSeen | undefined }
  | { readonly kind: "not-read" }

export type AdoptionCommand =
  | { readonly kind: "read" }
  | { readonly kind: "end"; readonly outcome: AdoptionOutcome }

export type AdoptionOutcome =
  /** This node runs under the generation, which is spent from now on. */
  | { readonly kind: "adopted"; readonly generation: Revision }
  /** This node is named and may not run under the generation: it claims the key at this revision. */
  | { readonly kind: "claim"; readonly generation: Revision }
  /** `placed` is undefined if nobody has the key. */
  | { readonly kind: "elsewhere"; readonly placed: PlacementSeen | undefined }
  /** The store did not answer. The next notice or call begins again. */
  | { readonly kind: "unavailable" }
