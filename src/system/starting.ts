import type { Ports } from "../ports/ports.js"
import type { ClusterStore } from "../ports/store.js"
import type { StartWait } from "../registry/start-wait.js"

/** What a system starts with, besides its settings. */
export interface Starting {
  readonly ports: Ports
  readonly store: ClusterStore | undefined
  /** Whether only this system uses the store. */
  readonly isPrivate: boolean
  readonly wait: StartWait
}
