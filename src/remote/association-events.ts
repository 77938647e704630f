import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import type { DisconnectReason } from "./disconnect-reason.js"

/** Published when a node is connected. */
export class AssociationConnected {
  readonly authority: string
  readonly node: NodeId

  constructor(authority: string, node: NodeId) {
    this.authority = authority
    this.node = node
  }
}

/** Published when the connection with a node is lost; the next message or watch reconnects. */
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

/** Published when connecting to a node failed; the attempt is repeated after a delay. */
export class AssociationFailed {
  readonly authority: string
  readonly reason: DisconnectReason
  /** The number of consecutive failures. */
  readonly attempts: number

  constructor(authority: string, reason: DisconnectReason, attempts: number) {
    this.authority = authority
    this.reason = reason
    this.attempts = attempts
  }
}

/** Published when a node is quarantined, because it violated the protocol or by `quarantine`. */
export class AssociationQuarantined {
  readonly authority: string
  /** Undefined if the node has not sent its id. */
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

/** Published for each message that is refused because its node is quarantined. */
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

/** Published when an incoming connection is refused, or its peer violated the protocol. */
export class ConnectionRefused {
  /** `host:port` of the peer, as the transport reports it. */
  readonly remote: string
  readonly reason: DisconnectReason
  /** Details for people; may be empty. */
  readonly detail: string

  constructor(remote: string, reason: DisconnectReason, detail: string) {
    this.remote = remote
    this.reason = reason
    this.detail = detail
  }
}
