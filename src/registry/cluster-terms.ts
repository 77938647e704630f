/**
 * What all nodes of a cluster must have in common to talk to each other, as it stands in the store: whoever
 * does not fit is told so when it starts.
 *
 * Membership is by the store alone. A node with another secret would be a member like any other, would be
 * given actors, and nobody could reach them. So the first node writes down what it is, and each node that
 * joins compares, before there is a record of it.
 *
 * Secrets stand there as fingerprints, by which nothing can be proven. One in common is enough, as for a
 * connection; the node that joins writes its own down, so that the key follows a change of the secret from
 * rollout to rollout. As that is what the last one has, and not what all have, the record of each node says
 * its own too, and whoever joins is compared with each that is alive. What no node in the cluster could get
 * by with is replaced once none is left.
 */
export interface ClusterTerms {
  /** Of the wire format. */
  readonly version: number
  /** The codec's name. */
  readonly codec: string
  /** How nodes are reached. */
  readonly transport: Transport
  /** Fingerprints of one secret or two; none where there is no secret. */
  readonly secrets: readonly string[]
}

type Transport = "none" | "tcp" | "tls"

type TermsDecision =
  | { readonly kind: "fits" }
  /** Its own terms are to stand there. */
  | { readonly kind: "write" }
  /** It may only join once no node is left that has joined on these terms. */
  | { readonly kind: "misfit"; readonly field: string; readonly problem: string }

/** `there` is what stands in the store: undefined if nothing, null if this version cannot read it. */
export function compareTerms(own: ClusterTerms, there: ClusterTerms | undefined | null): TermsDecision {
  if (there === undefined) return { kind: "write" }
  if (there === null)
    return misfit("store", "its nodes are of a version that is not known here; start theirs")
  if (own.version !== there.version) {
    return misfit(
      "store",
      `its nodes speak version ${there.version} of the wire format, and this one ${own.version}; stop them all first`,
    )
  }
  if (own.transport !== there.transport) return transportMisfit(own.transport, there.transport)
  if (own.codec !== there.codec) {
    return misfit(
      "codec",
      `it is ${own.codec}, and ${there.codec} on the nodes of the cluster in this store; set the same on all`,
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
      "the nodes of the cluster in this store listen; set listen, so that they can reach this one",
    )
  }
  if (there === "none") {
    return misfit(
      "listen",
      "the node of the cluster in this store does not listen; stop it, or set listen there too",
    )
  }
  return own === "tcp"
    ? misfit("listen.tls", "the nodes of the cluster in this store use TLS; set it here too")
    : misfit(
        "listen.tls",
        "the nodes of the cluster in this store do not use TLS; leave it out, or stop them all first",
      )
}

function secretMisfit(own: ClusterTerms, there: ClusterTerms): TermsDecision {
  if (own.secrets.length === 0)
    return misfit("listen.secret", "the nodes of the cluster in this store have a secret; set the same here")
  if (there.secrets.length === 0) {
    return misfit(
      "listen.secret",
      "the nodes of the cluster in this store have no secret; leave it out, or stop them all first",
    )
  }
  return misfit(
    "listen.secret",
    "it is not the secret of the nodes of the cluster in this store; set theirs, and to change it start every node with [next, current] first",
  )
}

function misfit(field: string, problem: string): TermsDecision {
  return { kind: "misfit", field, problem }
}

export function encodeClusterTerms({ version, codec, transport, secrets }: ClusterTerms): Uint8Array {
  return Buffer.from(JSON.stringify({ version, codec, transport, secrets }))
}

/** Null for what this version cannot read. */
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
