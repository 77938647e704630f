/** Why a handshake was refused. The number is what stands on the wire. */
export const refusalCodes = {
  "wrong-version": 1,
  "wrong-namespace": 2,
  "wrong-address": 3,
  "wrong-codec": 4,
  "wrong-store": 5,
  "wrong-secret": 6,
  duplicate: 7,
  quarantined: 8,
  self: 9,
  malformed: 10,
  stopping: 11,
} as const

export type HandshakeRefusal = keyof typeof refusalCodes

/** Why there is no connection, or no longer one. */
export type DisconnectReason =
  | HandshakeRefusal
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
  /** Too many connections were in their handshake; the oldest had to go. */
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
  "wrong-namespace": "the two nodes have different namespaces and are not of one cluster",
  "wrong-address":
    "the node there goes by another address; use the one that it advertises, or change its advertise setting",
  "wrong-codec": "the two nodes have different codecs; set the same on both",
  "wrong-store": "the two nodes use different stores; set the same on both",
  "wrong-secret": "the two nodes do not have the same listen.secret",
  duplicate: "the other node is connecting at the same time; its connection will be used",
  quarantined: "the other node has quarantined this one; restarting this node makes it a new one",
  self: "the address is this node's own",
  malformed: "the peer sent what no node would; it may be something else than a node, or of another version",
  stopping: "the node there is stopping",
  unreachable: "check that the node is up, and that nothing between blocks the port",
  untrusted: "look at listen.tls of both nodes: certificates, their names, and who signed them",
  "failed-on": "this is a defect of Troupe; please report what the log says about it",
  ended: "the other side closed the connection; with mutual TLS it may not believe this node's certificate",
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
