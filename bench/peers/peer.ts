/** Somebody else's way to do what is measured here. The project does not depend on it. */
export interface Peer {
  readonly name: string
  /** What is asked of the registry: exact versions, or figures of two days could not be compared. */
  readonly packages: readonly string[]
}

/** Actors of one process, told and asked. */
export const nact: Peer = { name: "nact", packages: ["nact@7.6.2"] }

/**
 * Entities that are called by name, in one process or between several. Its sockets are a package of their
 * own.
 */
export const effectCluster: Peer = {
  name: "effect-cluster",
  packages: ["effect@4.0.0-rc.117", "@effect/platform-node-shared@4.0.0-rc.117"],
}
