import { PLANNING, REVISIONS_PER_TRANSACTION, type StoreSchema } from "./store-schema.js"

/**
 * The function that removes what is no longer needed: all but the last changes, and the records of deleted
 * keys. One process at a time does so, and waits for no other.
 *
 * Only what is older than every transaction in progress is removed. So a listing, whose moment is that of the
 * oldest one, is never before the beginning of the log; and a key that is absent, for which the highest
 * revision of all removed records is reported, gets a higher one when it is written again, since that
 * transaction either is in progress now or has not begun.
 */
export function maintainFunction({ name, maintenanceLock }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.maintain_1(p_kept int)
    RETURNS void LANGUAGE plpgsql VOLATILE ${PLANNING} AS $function$
    DECLARE
      decided bigint;
      last bigint;
      highest bigint;
    BEGIN
      IF NOT pg_try_advisory_xact_lock(${maintenanceLock}) THEN RETURN; END IF;
      SELECT s.base - 1 + ${REVISIONS_PER_TRANSACTION} * pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        INTO decided FROM ${name}.store s;
      SELECT c.revision INTO last FROM ${name}.changes c ORDER BY c.revision DESC OFFSET p_kept LIMIT 1;
      IF last IS NOT NULL THEN
        last := least(last, decided);
        DELETE FROM ${name}.changes c WHERE c.revision <= last;
      END IF;
      WITH old AS MATERIALIZED (
        SELECT t.key FROM ${name}.tombstones t WHERE t.revision <= decided FOR UPDATE SKIP LOCKED
      ), removed AS (
        DELETE FROM ${name}.tombstones t USING old WHERE t.key = old.key RETURNING t.revision
      ) SELECT max(r.revision) INTO highest FROM removed r;
      UPDATE ${name}.log l SET
        begins = greatest(l.begins, last), absent_at = greatest(l.absent_at, highest)
        WHERE last > l.begins OR highest > l.absent_at;
    END
    $function$;`
}
