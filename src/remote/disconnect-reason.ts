/** Why a handshake was refused, as sent to the peer. The number is the code on the wire. */
export const refusalCodes = {
  refused: 1,
  "wrong-address": 2,
  "wrong-codec": 3,
  "wrong-store": 4,
  "wrong-limit": 5,
  "wrong-certificate": 6,
  duplicate: 7,
  quarantined: 8,
  self: 9,
  malformed: 10,
  stopping: 11,
  occupied: 12,
  removed: 13,
} as const

/** Why a node refused a handshake, as it tells its peer. */
export type HandshakeRefusal = keyof typeof refusalCodes

/**
 * Why a handshake was refused, as known to this node. An unproven peer is sent `refused` and no other reason.
 */
export type HandshakeProblem = HandshakeRefusal | "wrong-version" | "wrong-secret" | "replayed"

/** Why a connection could not be opened, or was closed. */
export type DisconnectReason =
  | HandshakeProblem
  /** The connection could not be opened, or failed. */
  | "unreachable"
  /** One of the two nodes does not trust the other's certificate. */
  | "untrusted"
  /** A defect of this node made it fail on a frame of the peer. */
  | "failed-on"
  /** The peer closed the connection without a GOODBYE. */
  | "ended"
  /** The peer sent GOODBYE: it is stopping. */
  | "left"
  /** Nothing was received for longer than keepAlive.timeoutMs. */
  | "silent"
  /** The peer took too long to send the rest of a batch, or to read. */
  | "slow"
  /** The handshake took too long. */
  | "handshake-timeout"
  /** A checksum did not match. */
  | "corrupted"
  /** A batch announced a length beyond the limit. */
  | "too-long"
  /** The same node opened a new connection. */
  | "replaced"
  /** Too many connections were unproven; the oldest of the busiest source was closed. */
  | "crowded-out"
  /** This node continues as a new incarnation; the connection belonged to the previous one. */
  | "reincarnated"

const refusals = new Map<number, HandshakeRefusal>(
  Object.entries(refusalCodes).map(([reason, code]) => [code, reason as HandshakeRefusal]),
)

export function refusalOf(code: number): HandshakeRefusal | undefined {
  return refusals.get(code)
}

/** What an operator can do about each reason. */
export const advice: Readonly<Record<DisconnectReason, string>> = {
  "wrong-version": "the nodes use different versions of the protocol; upgrade the older one",
  refused:
    "the other node refused this node as unproven; its log has the reason: listen.secret, namespace or version",
  "wrong-address":
    "the node there advertises another address; use that address, or change its advertise setting",
  "wrong-codec": "the nodes have different codecs; set the same codec on both",
  "wrong-store": "the nodes use different stores; set the same store on both",
  "wrong-secret": "the nodes have no listen.secret in common, or different namespaces; set the same on both",
  replayed:
    "a recorded HELLO was sent again; find out who can read the network between the nodes, or use TLS",
  "wrong-limit": "maxMessageBytes of the other node must be between 4,096 and 2^30; change it there",
  "wrong-certificate":
    "with mutual TLS a node's certificate must name the host that the node advertises, or listen.tls.serverName",
  occupied: "another live node advertises the same address; give each node its own advertise setting",
  duplicate: "the other node is connecting at the same time; its connection is used",
  quarantined: "the other node has quarantined this node; restart this node to give it a new incarnation",
  self: "the address is that of this node",
  removed:
    "the cluster has removed this incarnation of the node; unless it is stopping, the node joins again by itself",
  malformed: "the peer sent malformed data; check that it is a Troupe node, and its version",
  stopping: "the node there is stopping",
  unreachable:
    "check that the node is up, that its host name resolves, that no firewall blocks the port, and that listen.tls is set on both nodes or on neither",
  untrusted: "check listen.tls of both nodes: the certificates, their names and the CA that signed them",
  "failed-on": "this is a defect of Troupe; please report what the log says about it",
  ended:
    "the other node closed the connection without a goodbye; check whether its process has ended, and whether listen.tls is set there and not here",
  left: "the node has stopped",
  silent: "the node or the network does not respond; check both",
  slow: "the peer or the network is too slow for messages of this size",
  "handshake-timeout":
    "the handshake timed out; check that a Troupe node listens there, and that it is not overloaded",
  corrupted: "bytes were changed between the nodes; check the network hardware, or use TLS",
  "too-long": "the peer exceeded the message size that this node announced",
  replaced: "the other node had lost the connection and opened a new one",
  "crowded-out": "more connections were being opened than this node handles at one time",
  reincarnated: "this node continues as a new incarnation, and reconnects at once",
}

/** As `advice`, for a reason whose advice depends on TLS. */
export function adviceFor(reason: DisconnectReason, { isTls }: { readonly isTls: boolean }): string {
  return reason === "ended" && isTls
    ? "the other node closed the connection; check whether it trusts this node's certificate, and whether its process has ended"
    : advice[reason]
}
