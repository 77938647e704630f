import { commitFunction } from "./commit-function.js"
import { beginEpochFunction, PLACE } from "./epoch-function.js"
import { maintainFunction } from "./maintain-function.js"
import { changesFunction, getFunction, listFunction } from "./read-functions.js"
import { REVISIONS_PER_TRANSACTION, type StoreSchema } from "./store-schema.js"

/**
 * The version of a new store: a process that knows only lower ones cannot use it. A function that changes
 * gets another name, and is added to stores of lower versions, which keep the old one and their version. So
 * nodes can be upgraded one by one.
 *
 * 1. `commit_1`, which cannot read.
 * 2. `commit_2` instead.
 */
export const SCHEMA_VERSION = 2

/** What a new store begins with. */
interface NewStore {
  readonly epoch: string
  readonly identity: string
  /** The first revision. */
  readonly first: number
}

/**
 * Returns the statement that creates what is missing. It is one transaction: processes that start at the same
 * time wait for each other, and all but the first find that there is nothing to do.
 */
export function migration(schema: StoreSchema, { epoch, identity, first }: NewStore): string {
  const { name } = schema
  return `DO $migration$
DECLARE
  found int := 0;
BEGIN
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  PERFORM pg_advisory_xact_lock(${schema.migrationLock});
  IF to_regnamespace('${name}') IS NULL THEN CREATE SCHEMA ${name}; END IF;
  IF to_regclass('${name}.store') IS NOT NULL THEN SELECT version INTO found FROM ${name}.store; END IF;
  IF found < 1 THEN
${tables(name)}
${getFunction(schema)}
${listFunction(schema)}
${changesFunction(schema)}
${beginEpochFunction(schema)}
${maintainFunction(schema)}
    INSERT INTO ${name}.store (version, identity, epoch, base, system, database, timeline, written_by)
      SELECT ${SCHEMA_VERSION}, '${identity}', '${epoch}',
        ${first} - pg_current_xact_id()::text::bigint * ${REVISIONS_PER_TRANSACTION},
        place.system, place.database, place.timeline, pg_current_xact_id()
      FROM (${PLACE}) place;
    INSERT INTO ${name}.log (begins, absent_at) VALUES (${first}, ${first});
  END IF;
  IF to_regproc('${name}.commit_2') IS NULL THEN
${commitFunction(schema)}
  END IF;
END
$migration$`
}

/**
 * Values are not compressed: most are small or were packed by a codec, and compressing 1 MiB takes longer
 * than writing it. Pages of entries have room for the next version of a row, so that its index entry can
 * stay.
 */
function tables(name: string): string {
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
