/**
 * What all nodes of a cluster must have in common to talk to each other, as it is in the store: a node that
 * does not fit fails to start.
 *
 * Membership is by the store alone. A node with another secret would be a member like any other and would be
 * given actors, which no other node could reach. So the first node writes its terms, and each node that joins
 * compares its own with them, before there is a record of it.
 *
 * Secrets are stored as fingerprints, which prove nothing. One in common is enough, as for a connection; the
 * node that joins writes its own, so that the terms follow a change of the secret from rollout to rollout.
 * They are those of the node that joined last, so the record of each node has its own too, and a node that
 * joins is compared with all that are alive. Terms that a node does not fit are replaced once no node is
 * alive.
 */
export interface ClusterTerms {
  /** The version of the wire format. */
  readonly version: number
  /** The name of the codec. */
  readonly codec: string
  /** How nodes are reached. */
  readonly transport: Transport
  /** Fingerprints of one secret or two; empty without a secret. */
  readonly secrets: readonly string[]
}

type Transport = "none" | "tcp" | "tls"

type TermsDecision =
  | { readonly kind: "fits" }
  /** The node fits once its own terms are written. */
  | { readonly kind: "write" }
  /** The node may join only once no node is alive that has joined on these terms. */
  | { readonly kind: "misfit"; readonly field: string; readonly problem: string }

/** `there` are the terms in the store: undefined if there are none, null if this version cannot read them. */
export function compareTerms(own: ClusterTerms, there: ClusterTerms | undefined | null): TermsDecision {
  if (there === undefined) return { kind: "write" }
  if (there === null)
    return misfit(
      "store",
      "the terms of its cluster are of an unknown version; start the version that wrote them",
    )
  if (own.version !== there.version) {
    return misfit(
      "store",
      `its nodes use version ${there.version} of the wire format (this node uses ${own.version}); stop all of them first`,
    )
  }
  if (own.transport !== there.transport) return transportMisfit(own.transport, there.transport)
  if (own.codec !== there.codec) {
    return misfit(
      "codec",
      `must be ${there.codec}, as on the nodes of the cluster in this store (got ${own.codec}); set the same on all`,
    )
  }
  if (!mayMeet(own.secrets, there.secrets)) return secretMisfit(own, there)
  const common = own.secrets.filter((secret) => there.secrets.includes(secret)).length
  const isSame = common === own.secrets.length && common === there.secrets.length
  return { kind: isSame ? "fits" : "write" }
}

/** Whether nodes with these secrets, by their fingerprints, can connect. */
export function mayMeet(some: readonly string[], others: readonly string[]): boolean {
  if (some.length + others.length === 0) return true
  return some.some((secret) => others.includes(secret))
}

function transportMisfit(own: Transport, there: Transport): TermsDecision {
  if (own === "none") {
    return misfit(
      "listen",
      "must be set, as the nodes of the cluster in this store listen; otherwise they cannot reach this one",
    )
  }
  if (there === "none") {
    return misfit(
      "listen",
      "must not be set, as the node of the cluster in this store does not listen; stop it, or set listen there",
    )
  }
  return own === "tcp"
    ? misfit("listen.tls", "must be set, as the nodes of the cluster in this store use TLS")
    : misfit(
        "listen.tls",
        "must not be set, as the nodes of the cluster in this store do not use TLS; stop all of them to change it",
      )
}

function secretMisfit(own: ClusterTerms, there: ClusterTerms): TermsDecision {
  if (own.secrets.length === 0)
    return misfit(
      "listen.secret",
      "must be set, as the nodes of the cluster in this store have a secret; set the same here",
    )
  if (there.secrets.length === 0) {
    return misfit(
      "listen.secret",
      "must not be set, as the nodes of the cluster in this store have no secret; stop all of them to change it",
    )
  }
  return misfit(
    "listen.secret",
    "must be the secret of the nodes of the cluster in this store; to change it start every node with [next, current] first",
  )
}

function misfit(field: string, problem: string): TermsDecision {
  return { kind: "misfit", field, problem }
}

export function encodeClusterTerms({ version, codec, transport, secrets }: ClusterTerms): Uint8Array {
  return Buffer.from(JSON.stringify({ version, codec, transport, secrets }))
}

/** Null for bytes that this version cannot read. */
export function decodeClusterTerms(bytes: Uint8Array): ClusterTerms | null {
  try {
    const { version, codec, transport, secrets } = JSON.parse(Buffer.from(bytes).toString()) as ClusterTerms
    const isRead =
      Number.isSafeInteger(version) &&
      typeof codec === "string" &&
      ["none", "tcp", "tls"].includes(transport) &&
      Array.isArray(secrets) &&
      secrets.every((secret) => typeof secret === "string")
    return isRead ? { version, codec, transport, secrets } : null
  } catch {
    return null
  }
}
