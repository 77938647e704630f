import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import type { DisconnectReason } from "./disconnect-reason.js"

/** Published when a node is connected. */
export class AssociationConnected {
  /** `host:port` of the other node, as it advertises it. */
  readonly authority: string
  /** The id of the other node. */
  readonly node: NodeId

  constructor(authority: string, node: NodeId) {
    this.authority = authority
    this.node = node
  }
}

/** Published when the connection with a node is lost; the next message or watch reconnects. */
export class AssociationLost {
  /** `host:port` of the other node, as it advertises it. */
  readonly authority: string
  /** The id of the other node. */
  readonly node: NodeId
  /** Why, as a code; the log also has advice. */
  readonly reason: DisconnectReason

  constructor(authority: string, node: NodeId, reason: DisconnectReason) {
    this.authority = authority
    this.node = node
    this.reason = reason
  }
}

/** Published when connecting to a node failed; the attempt is repeated after a delay. */
export class AssociationFailed {
  /** `host:port` of the other node, as it advertises it. */
  readonly authority: string
  /** Why, as a code; the log also has advice. */
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
  /** `host:port` of the other node, as it advertises it. */
  readonly authority: string
  /** Undefined if the node has not sent its id. */
  readonly node: NodeId | undefined
  /** Why the node is quarantined. */
  readonly reason: string
  /** How long the quarantine lasts. */
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
  /** `host:port` of the other node, as it advertises it. */
  readonly authority: string
  /** The path that the message was sent to. */
  readonly recipient: ActorPath
  /** Why the node is quarantined. */
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
  /** Why, as a code; the log also has advice. */
  readonly reason: DisconnectReason
  /** Details for people; may be empty. */
  readonly detail: string

  constructor(remote: string, reason: DisconnectReason, detail: string) {
    this.remote = remote
    this.reason = reason
    this.detail = detail
  }
}
