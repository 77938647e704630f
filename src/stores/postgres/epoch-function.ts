import { PLANNING, REVISIONS_PER_TRANSACTION, type StoreSchema } from "./store-schema.js"

/**
 * Whether the record of the epoch applies to this server, as an SQL expression over `s`, the record, `seen`,
 * the highest position in the log that the caller has seen in an epoch, and `now`, that of the server.
 *
 * - `stale`: the record was not written here. It has the id of the transaction that wrote it, and so has its
 *   row, by itself: a restored dump is a row of another transaction. Or the server is on another timeline: a
 *   replica was promoted, or a backup was recovered to some point.
 * - `behind`: the caller has seen more of this epoch than the server has. A copy of its files was put back.
 */
export const STORE_STATE = `CASE
  WHEN s.xmin <> s.written_by::xid OR s.timeline <> left(pg_walfile_name(now.lsn), 8) THEN 'stale'
  WHEN s.epoch = seen.epoch AND now.lsn - '0/0'::pg_lsn < seen.lsn THEN 'behind'
  ELSE 'valid' END`

/**
 * Where a store is. The system identifier is that of the database cluster; a role may be barred from reading
 * it, and it then does not count.
 */
export const PLACE = `SELECT current_database()::text AS database,
  left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) AS timeline,
  CASE WHEN has_function_privilege('pg_control_system()', 'execute')
    THEN (SELECT system_identifier::text FROM pg_control_system()) END AS system`

/**
 * Reads what a process compares with the store that it knows, and the last revision that may be assigned. The
 * parameters are an epoch, and a key that was committed in it at a revision: since revisions grow along each
 * key, a store that has the key at a lower one has lost that commit, however far its log has come since.
 */
export function identification({ name }: StoreSchema): string {
  return `SELECT s.version, s.identity, s.epoch,
  s.database = place.database AND coalesce(s.system = place.system, true) AND ${STORE_STATE} = 'valid' AND
    coalesce(s.epoch <> $1 OR $3::bigint <= coalesce(
      (SELECT e.revision FROM ${name}.entries e WHERE e.key = $2),
      greatest((SELECT t.revision FROM ${name}.tombstones t WHERE t.key = $2), l.absent_at)
    ), true),
  s.base + pg_snapshot_xmax(pg_current_snapshot())::text::bigint * ${REVISIONS_PER_TRANSACTION}
FROM ${name}.store s, ${name}.log l, (${PLACE}) place,
  (SELECT NULL::text AS epoch, 0::bigint AS lsn) seen, (SELECT pg_current_wal_flush_lsn() AS lsn) now`
}

/**
 * The function that begins an epoch, unless another process has done so since the caller read the old one.
 * Its exclusive lock waits for all commits of the old epoch; later ones find the new one. Everything that was
 * known of the history ends: the log begins anew, and no key was absent before the first revision.
 *
 * Returns NULL if the first revision that was asked for is not above all that were assigned here.
 */
export function beginEpochFunction({ name, epochLock }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.begin_epoch_1(
      p_old text, p_epoch text, p_identity text, p_first bigint, p_lock_ms int
    ) RETURNS text LANGUAGE plpgsql VOLATILE ${PLANNING} AS $function$
    DECLARE
      s ${name}.store;
      place record;
      id bigint;
    BEGIN
      IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      PERFORM set_config('lock_timeout', p_lock_ms::text, true);
      PERFORM pg_advisory_xact_lock(${epochLock});
      SELECT * INTO s FROM ${name}.store;
      IF s.epoch <> p_old THEN RETURN s.epoch; END IF;
      SELECT * INTO place FROM (${PLACE}) p;
      id := pg_current_xact_id()::text::bigint;
      IF p_first <= s.base + id * ${REVISIONS_PER_TRANSACTION} THEN RETURN NULL; END IF;
      UPDATE ${name}.store SET
        epoch = p_epoch,
        base = p_first - id * ${REVISIONS_PER_TRANSACTION},
        identity = CASE
          WHEN s.database = place.database AND coalesce(s.system = place.system, true) THEN s.identity
          ELSE p_identity END,
        system = place.system, database = place.database, timeline = place.timeline,
        written_by = pg_current_xact_id();
      UPDATE ${name}.log SET begins = p_first, absent_at = p_first;
      RETURN p_epoch;
    END
    $function$;`
}
