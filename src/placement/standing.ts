import type { NodeId } from "../address/node-id.js"
import type { Role } from "./coordinator-event.js"
import type { CoordinatorState } from "./coordinator-snapshot.js"
import { KnownMembers } from "./known-members.js"
import type { Candidate } from "./topology.js"

/** What this node is in the cluster, and whom it knows there. */
export class Standing {
  readonly self: NodeId
  readonly members = new KnownMembers()
  #role: Role | undefined
  #hindrance: string | undefined

  constructor(self: NodeId) {
    this.self = self
  }

  get state(): CoordinatorState {
    if (this.#role === undefined) return "stopped"
    return this.hindrance === undefined ? this.#role : "not-ready"
  }

  /** Why it is not ready, though it was started. */
  get hindrance(): string | undefined {
    if (this.#role === undefined) return undefined
    return (
      this.#hindrance ?? (this.members.version === undefined ? "the cluster is not known yet" : undefined)
    )
  }

  get isMember(): boolean {
    return this.#role === "member"
  }

  start(as: Role): void {
    this.#role = as
    this.#hindrance = undefined
  }

  suspend(because: string): void {
    this.#hindrance = because
  }

  stop(): void {
    this.#role = undefined
  }

  /** The members that may host the type; a client is none of them, whatever the topology still says. */
  hosts(type: string): readonly Candidate[] {
    const candidates = this.members.candidates(type)
    return this.isMember ? candidates : candidates.filter(({ node }) => !node.equals(this.self))
  }

  hostsHere(type: string): boolean {
    return this.hosts(type).some(({ node }) => node.equals(this.self))
  }
}
