import { quoted } from "../address/quote.js"

/** What all nodes of a cluster must have in common to work together. */
export interface JoinTerms {
  /** The version of the wire format. */
  readonly version: number
  /** The name of the codec. */
  readonly codec: string
  /** The number of shards of each sharded type. */
  readonly shards: Readonly<Record<string, number>>
}

/** The setting of a node that does not fit, and why. */
export interface Misfit {
  readonly field: string
  readonly problem: string
}

/** Says why a node with terms of its own cannot be in a cluster with a node on others. */
export function misfitOf(own: JoinTerms, other: JoinTerms): Misfit | undefined {
  if (own.version !== other.version) {
    return {
      field: "seeds",
      problem: `its nodes use version ${other.version} of the wire format (this node uses ${own.version}); stop all of them first`,
    }
  }
  if (own.codec !== other.codec) {
    return {
      field: "codec",
      problem: `must be ${other.codec}, as on the nodes of the cluster (got ${own.codec}); set the same on all`,
    }
  }
  for (const [type, count] of Object.entries(own.shards)) {
    const there = Object.hasOwn(other.shards, type) ? other.shards[type] : undefined
    if (there === undefined || there === count) continue
    return {
      field: "shards",
      problem: `must be ${there} for the type ${quoted(type)}, as on the nodes of the cluster (got ${count}); set the same on all`,
    }
  }
  return undefined
}
