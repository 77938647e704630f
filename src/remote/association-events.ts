import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import type { DisconnectReason } from "./disconnect-reason.js"

/** A node is connected. */
export class AssociationConnected {
  readonly authority: string
  readonly node: NodeId

  constructor(authority: string, node: NodeId) {
    this.authority = authority
    this.node = node
  }
}

/** The connection with a node is gone; it is made again when there is something to send. */
export class AssociationLost {
  readonly authority: string
  readonly node: NodeId
  readonly reason: DisconnectReason

  constructor(authority: string, node: NodeId, reason: DisconnectReason) {
    this.authority = authority
    this.node = node
    this.reason = reason
  }
}

/** A node could not be connected; it is tried again after a while. */
export class AssociationFailed {
  readonly authority: string
  readonly reason: DisconnectReason
  /** How many times in a row. */
  readonly attempts: number

  constructor(authority: string, reason: DisconnectReason, attempts: number) {
    this.authority = authority
    this.reason = reason
    this.attempts = attempts
  }
}

/** Nothing is exchanged with a node for a time, because it broke the protocol or was shut out by hand. */
export class AssociationQuarantined {
  readonly authority: string
  /** Undefined where it never said who it is. */
  readonly node: NodeId | undefined
  readonly reason: string
  readonly durationMs: number

  constructor(authority: string, node: NodeId | undefined, reason: string, durationMs: number) {
    this.authority = authority
    this.node = node
    this.reason = reason
    this.durationMs = durationMs
  }
}

/** A message was refused because its node is quarantined. There is one for each. */
export class InvalidAssociation {
  readonly authority: string
  readonly recipient: ActorPath
  readonly reason: string

  constructor(authority: string, recipient: ActorPath, reason: string) {
    this.authority = authority
    this.recipient = recipient
    this.reason = reason
  }
}

/** Somebody who connected to this node was turned away, or broke the protocol. */
export class ConnectionRefused {
  /** `host:port` of the other end, as the network knows it. */
  readonly remote: string
  readonly reason: DisconnectReason
  /** More than the reason says, for people. */
  readonly detail: string

  constructor(remote: string, reason: DisconnectReason, detail: string) {
    this.remote = remote
    this.reason = reason
    this.detail = detail
  }
}
