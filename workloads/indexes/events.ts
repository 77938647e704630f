import type { Profile } from "./profile.js"

/** What the invariants of the workload look at: one commit of the state of a profile. */
export interface Wrote {
  readonly kind: "profile"
  readonly id: string
  readonly before: StoredProfile | undefined
  /** Undefined if the state was deleted, or says that the profile was destroyed. */
  readonly after: StoredProfile | undefined
  /** Whether it is not a turn that wrote it, but an import. */
  readonly isImport: boolean
  /** The number of rows of reminders that were there before the commit. */
  readonly reminders: number
}

/** The entries of all indexes after a commit; `problem` says where they are not what the states say. */
export interface Indexed {
  readonly kind: "indexes"
  readonly problem: string | undefined
  /** Says which unique value belongs to two. */
  readonly shared: string | undefined
}

/** A profile as it is in the store. */
export interface StoredProfile {
  readonly version: number
  readonly state: Profile
}
