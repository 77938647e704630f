/** Why a handshake was refused, as a peer is told. The number is what stands on the wire. */
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
} as const

export type HandshakeRefusal = keyof typeof refusalCodes

/**
 * Why a handshake was refused, as this node knows it. A peer that has proven nothing is told no more than
 * `refused`.
 */
export type HandshakeProblem = HandshakeRefusal | "wrong-version" | "wrong-secret" | "replayed"

/** Why there is no connection, or no longer one. */
export type DisconnectReason =
  | HandshakeProblem
  /** The connection could not be made, or broke. */
  | "unreachable"
  /** One of the two does not believe the other's certificate. */
  | "untrusted"
  /** This node has a defect that showed on what the peer sent. */
  | "failed-on"
  /** The peer ended the connection without a word. */
  | "ended"
  /** The peer said that it is stopping. */
  | "left"
  /** Nothing came for longer than keep-alive allows. */
  | "silent"
  /** The peer began a batch and took too long over the rest. */
  | "slow"
  /** The handshake took too long. */
  | "handshake-timeout"
  /** A checksum did not match: the bytes are not those that were sent. */
  | "corrupted"
  /** A length beyond the limit. */
  | "too-long"
  /** The same node made a new connection. */
  | "replaced"
  /** Too many connections were unproven; the oldest of the busiest source had to go. */
  | "crowded-out"
  /** This node goes on as its next incarnation; the connection was that of the last one. */
  | "reincarnated"

const refusals = new Map<number, HandshakeRefusal>(
  Object.entries(refusalCodes).map(([reason, code]) => [code, reason as HandshakeRefusal]),
)

export function refusalOf(code: number): HandshakeRefusal | undefined {
  return refusals.get(code)
}

/** What a person can do about it. */
export const advice: Readonly<Record<DisconnectReason, string>> = {
  "wrong-version": "the two nodes speak different versions of the protocol; upgrade the older one",
  refused:
    "the other node refused this one before it had proven itself; the log of that node says why: listen.secret, namespace or version",
  "wrong-address":
    "the node there goes by another address; use the one that it advertises, or change its advertise setting",
  "wrong-codec": "the two nodes have different codecs; set the same on both",
  "wrong-store": "the two nodes use different stores; set the same on both",
  "wrong-secret": "the two nodes have no listen.secret in common, or different namespaces",
  replayed:
    "somebody repeats what a node of the cluster has said; see who can read the network between the nodes, or use TLS",
  "wrong-limit": "maxMessageBytes of the other node is out of range; it is from 4,096 to 2^30 bytes",
  "wrong-certificate":
    "with mutual TLS a node's certificate must bear the host that the node advertises, or listen.tls.serverName",
  occupied:
    "a node that goes by the same address is connected and answers; give each node an advertise setting of its own",
  duplicate: "the other node is connecting at the same time; its connection will be used",
  quarantined: "the other node has quarantined this one; restarting this node makes it a new one",
  self: "the address is this node's own",
  malformed: "the peer sent what no node would; it may be something else than a node, or of another version",
  stopping: "the node there is stopping",
  unreachable: "check that the node is up, and that nothing between blocks the port",
  untrusted: "look at listen.tls of both nodes: certificates, their names, and who signed them",
  "failed-on": "this is a defect of Troupe; please report what the log says about it",
  ended: "the other side closed the connection without a word; look whether its process has ended",
  left: "the node has stopped",
  silent: "the node or the network between hangs",
  slow: "the network between is too slow for messages of this size",
  "handshake-timeout": "what listens there may be something else than a node, or overloaded",
  corrupted: "something between the nodes changes bytes; look at the network hardware, or use TLS",
  "too-long": "the peer does not keep to the limit that it was told",
  replaced: "the other node had lost the connection and made a new one",
  "crowded-out": "more connections were being made than this node handles at a time",
  reincarnated: "this node goes on as a new incarnation, and connects again at once",
}

/** The same, for where it depends on whether nodes use TLS. */
export function adviceFor(reason: DisconnectReason, { isTls }: { readonly isTls: boolean }): string {
  return reason === "ended" && isTls
    ? "the other side closed the connection; it may not believe this node's certificate, or its process has ended"
    : advice[reason]
}
