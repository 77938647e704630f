import { createHash } from "node:crypto"
import { beginEpochFunction, STORE_STATE } from "./epoch-function.js"
import { commitFunction } from "./commit-function.js"
import { maintainFunction } from "./maintain-function.js"
import { changesFunction, getFunction, listFunction } from "./read-functions.js"

/** The version of the tables and functions. It grows with each migration. */
export const SCHEMA_VERSION = 1

/** The revisions of a transaction: its id times this, plus the index of a commit in its batch. */
export const REVISIONS_PER_TRANSACTION = 64

/** The names and locks of one store: a schema of a database. */
export class StoreSchema {
  readonly name: string
  /** The channel on which processes notify each other of changes. */
  readonly channel: string
  /** The advisory lock that each commit shares, and a new epoch takes exclusively. Also the seed of key locks. */
  readonly epochLock: bigint
  /** The advisory lock of the process that trims. */
  readonly maintenanceLock: bigint

  /** The name must be an identifier that needs no quotes. */
  constructor(name: string) {
    this.name = name
    this.channel = `troupe_${name}`
    this.epochLock = lockOf(`epoch of ${name}`)
    this.maintenanceLock = lockOf(`maintenance of ${name}`)
  }

  /**
   * Returns the statement that creates what is missing. It is one transaction: processes that start at the
   * same time wait for each other, and all but the first find that there is nothing to do.
   */
  migration({ epoch, identity, first }: NewStore): string {
    const { name } = this
    return `DO $migration$
DECLARE
  found int := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(${lockOf(`migration of ${name}`)});
  IF to_regnamespace('${name}') IS NULL THEN CREATE SCHEMA ${name}; END IF;
  IF to_regclass('${name}.store') IS NOT NULL THEN SELECT version INTO found FROM ${name}.store; END IF;
  IF found IS NULL OR found < 1 THEN
${this.#tables()}
${commitFunction(this)}
${getFunction(this)}
${listFunction(this)}
${changesFunction(this)}
${beginEpochFunction(this)}
${maintainFunction(this)}
    INSERT INTO ${name}.store (version, identity, epoch, base, system, database, timeline, written_by)
      SELECT ${SCHEMA_VERSION}, '${identity}', '${epoch}',
        ${first} - pg_current_xact_id()::text::bigint * ${REVISIONS_PER_TRANSACTION},
        place.system, place.database, place.timeline, pg_current_xact_id()
      FROM (${PLACE}) place;
    INSERT INTO ${name}.log (begins, absent_at) VALUES (${first}, ${first});
  END IF;
END
$migration$`
  }

  /** Describes the server and the store, for a new connection. */
  get hello(): string {
    return `SELECT pg_backend_pid(), pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',
  current_setting('server_version_num')::int, to_regclass('${this.name}.store') IS NOT NULL`
  }

  /** Reads what a process compares with the place that it is connected to. */
  get identification(): string {
    return `SELECT s.version, s.identity, s.epoch,
  s.database = place.database AND coalesce(s.system = place.system, true) AND ${STORE_STATE} = 'valid',
  s.base + pg_snapshot_xmax(pg_current_snapshot())::text::bigint * ${REVISIONS_PER_TRANSACTION}
FROM ${this.name}.store s, (${PLACE}) place,
  (SELECT NULL::text AS epoch, 0::bigint AS lsn) seen, (SELECT pg_current_wal_flush_lsn() AS lsn) now`
  }

  /**
   * The values are not compressed: most are small or were packed by a codec, and compressing 1 MiB takes longer
   * than writing it. Updates leave room on the page for the next version of a row, so that indexes stay as
   * they are.
   */
  #tables(): string {
    const { name } = this
    return `    CREATE TABLE ${name}.entries (
      key text COLLATE "C" PRIMARY KEY,
      revision bigint NOT NULL,
      value bytea NOT NULL
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
    CREATE TABLE ${name}.tombstones (
      key text COLLATE "C" PRIMARY KEY,
      revision bigint NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0.02);
    CREATE TABLE ${name}.changes (
      revision bigint,
      part int,
      key text COLLATE "C" NOT NULL,
      value bytea,
      PRIMARY KEY (revision, part)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02);
    ALTER TABLE ${name}.entries ALTER COLUMN value SET STORAGE EXTERNAL;
    ALTER TABLE ${name}.changes ALTER COLUMN value SET STORAGE EXTERNAL;
    CREATE TABLE ${name}.store (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      version int NOT NULL,
      identity text NOT NULL,
      epoch text NOT NULL,
      base bigint NOT NULL,
      system text,
      database text NOT NULL,
      timeline text NOT NULL,
      written_by xid8 NOT NULL
    );
    CREATE TABLE ${name}.log (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      begins bigint NOT NULL,
      absent_at bigint NOT NULL
    ) WITH (fillfactor = 50);`
  }
}

export interface NewStore {
  readonly epoch: string
  readonly identity: string
  /** The first revision. */
  readonly first: number
}

/**
 * Where a store is. The system identifier is that of the database cluster; a role may be barred from reading
 * it, and it then does not count.
 */
export const PLACE = `SELECT current_database()::text AS database,
  left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) AS timeline,
  CASE WHEN has_function_privilege('pg_control_system()', 'execute')
    THEN (SELECT system_identifier::text FROM pg_control_system()) END AS system`

function lockOf(purpose: string): bigint {
  return createHash("sha256").update(`troupe: ${purpose}`).digest().readBigInt64BE(0)
}
