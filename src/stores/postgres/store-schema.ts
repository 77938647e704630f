import { createHash } from "node:crypto"

/** The names and locks of one store: a schema of a database. */
export class StoreSchema {
  readonly name: string
  /** The channel on which processes notify each other of changes. */
  readonly channel: string
  /**
   * The advisory lock that each commit shares, and a new epoch takes exclusively. Also the seed of key locks.
   */
  readonly epochLock: bigint
  /** The advisory lock of the process that trims. */
  readonly maintenanceLock: bigint
  /** The advisory lock of the process that creates the tables. */
  readonly migrationLock: bigint

  /** The name must be an identifier that needs no quotes. */
  constructor(name: string) {
    this.name = name
    this.channel = `troupe_${name}`
    this.epochLock = lockOf(`epoch of ${name}`)
    this.maintenanceLock = lockOf(`maintenance of ${name}`)
    this.migrationLock = lockOf(`migration of ${name}`)
  }
}

/**
 * A transaction has this many revisions: its id times this, plus the index of a commit in its batch. The last
 * index is not used by commits.
 */
export const REVISIONS_PER_TRANSACTION = 64

/**
 * The columns of all functions that return rows. The first row is about the store, the others are entries.
 */
export const ROW =
  "state text, epoch text, lsn bigint, horizon bigint, n bigint, key text, revision bigint, value bytea"

/**
 * Settings of the functions. Their plans are kept, because planning takes longer than most of the calls; and
 * a plan that was made while the tables were empty must not read them from end to end later.
 */
export const PLANNING = [
  "SET plan_cache_mode = force_generic_plan SET jit = off",
  "SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off",
].join(" ")

function lockOf(purpose: string): bigint {
  return createHash("sha256").update(`troupe: ${purpose}`).digest().readBigInt64BE(0)
}
