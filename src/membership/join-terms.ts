/** What all nodes of a cluster must have in common to work together. */
export interface JoinTerms {
  /** The version of the wire format. */
  readonly version: number
  /** The name of the codec. */
  readonly codec: string
  /** The number of shards of each sharded type. */
  readonly shards: Readonly<Record<string, number>>
}
