import { sharded } from "../../src/index.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import { shardKey } from "../../src/sharding/shard-keys.js"
import type { HeldSaves } from "../cluster/held-saves.js"
import { PROFILE_SHARDS, SHARDED } from "./profile.js"
import type { ProfileLedger } from "./profile-ledger.js"
import type { StoredProfiles } from "./stored-profiles.js"

/** What all registrars of one run share. */
export interface RegistrarRules {
  readonly stored: StoredProfiles
  readonly ledger: ProfileLedger
  /** Undefined if no commit arrives late. */
  readonly held: HeldSaves | undefined
  readonly keys: readonly string[]
  readonly pauseMs: number
  readonly clients: number
  /** The number of nodes that host profiles. */
  readonly hosts: number
  /** The version of the index of plans on nodes of the later version; 0 if all declare the same. */
  readonly plans: number
  /** The number of nodes of the earlier version. */
  readonly oldNodes: number
}

/** The key of the record that a profile stands on. */
export function recordOf(id: string): string {
  if (!id.startsWith(`${SHARDED}/`)) return PLACEMENTS + id
  const key = decodeURIComponent(id.slice(SHARDED.length + 1))
  return shardKey(SHARDED, SHARDING.shardOf(key))
}

const SHARDING = sharded({ shards: PROFILE_SHARDS })
