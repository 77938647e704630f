import { STORE_STATE } from "./epoch-function.js"
import { PLANNING, REVISIONS_PER_TRANSACTION, ROW, type StoreSchema } from "./store-schema.js"

/**
 * The functions that read. All statements of one have the snapshot of its call, because it is stable, so the
 * first row, which has the state of the store, and the others belong to one moment.
 *
 * **Moments.** Commits become visible in any order, so a snapshot does not show all commits up to some
 * revision; but it does show all of those below the *horizon*, the oldest transaction in progress: each of
 * them has ended. A watch reads up to the horizon, and never has to look back.
 *
 * The revision of a moment is not the horizon itself, but the last change that is visible before it: there is
 * no other between the two. The ids up to the horizon may have been assigned and not be on the disk; after a
 * crash of the server they are assigned again, and a watch from the horizon would miss those commits. A
 * change that is visible is on the disk, and so is a commit that was acknowledged, which `p_known` says.
 */

/** Reads keys. Each has a row: `n` is its position, from 1; one that is absent has no `value`. */
export function getFunction({ name }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.get_1(p_epoch text, p_seen bigint, p_keys text[])
    RETURNS TABLE (${ROW}) LANGUAGE plpgsql STABLE ${PLANNING} AS $function$
    #variable_conflict use_column
    BEGIN
      SELECT ${STORE_STATE}, s.epoch, now.lsn - '0/0'::pg_lsn INTO state, epoch, lsn
        FROM ${name}.store s, ${SEEN_AND_NOW};
      RETURN NEXT;
      RETURN QUERY
        SELECT NULL::text, NULL::text, NULL::bigint, NULL::bigint, k.n, NULL::text,
            coalesce(e.revision, greatest(t.revision, l.absent_at)), e.value
          FROM ${name}.log l, unnest(p_keys) WITH ORDINALITY k(key, n)
            LEFT JOIN ${name}.entries e ON e.key = k.key
            LEFT JOIN ${name}.tombstones t ON e.key IS NULL AND t.key = k.key
          ORDER BY k.n;
    END
    $function$;`
}

/**
 * Reads a page of the keys from `p_from` to before `p_to`, and one more: `n` is the number of all of these. A
 * page ends early once its values exceed `p_bytes`, and has no values if that is 0.
 */
export function listFunction({ name }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.list_1(
      p_epoch text, p_seen bigint, p_known bigint, p_foreign xid8[],
      p_from text, p_to text, p_limit int, p_bytes bigint
    ) RETURNS TABLE (${ROW}) LANGUAGE plpgsql STABLE ${PLANNING} AS $function$
    #variable_conflict use_column
    DECLARE
      begins bigint;
    BEGIN
${moment(name)}
      RETURN NEXT;
      RETURN QUERY
        SELECT NULL::text, NULL::text, NULL::bigint, NULL::bigint, p.n, p.key, p.revision, p.value FROM (
          SELECT e.key, e.revision, CASE WHEN p_bytes > 0 THEN e.value END AS value, count(*) OVER () AS n,
              sum(octet_length(e.value)) OVER (ORDER BY e.key) - octet_length(e.value) AS before
            FROM (
              SELECT * FROM ${name}.entries x WHERE x.key >= p_from AND x.key < p_to
                ORDER BY x.key LIMIT p_limit + 1
            ) e
        ) p WHERE p_bytes = 0 OR p.before < p_bytes ORDER BY p.key;
    END
    $function$;`
}

/**
 * Reads changes after a revision, up to the horizon. The first row has the beginning of the log in `n`, and
 * in `key` the transaction that holds the horizon back, if there is one.
 */
export function changesFunction({ name }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.changes_1(
      p_epoch text, p_seen bigint, p_known bigint, p_foreign xid8[], p_after bigint, p_limit int
    ) RETURNS TABLE (${ROW}) LANGUAGE plpgsql STABLE ${PLANNING} AS $function$
    #variable_conflict use_column
    DECLARE
      begins bigint;
      through bigint;
    BEGIN
${moment(name)}
      n := begins;
      through := horizon;
      RETURN NEXT;
      RETURN QUERY
        SELECT NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::bigint, c.key, c.revision, c.value
          FROM ${name}.changes c WHERE c.revision > p_after AND c.revision <= through
          ORDER BY c.revision, c.part LIMIT p_limit;
    END
    $function$;`
}

const SEEN_AND_NOW = `(SELECT p_epoch AS epoch, p_seen AS lsn) seen,
          (SELECT pg_current_wal_flush_lsn() AS lsn) now`

/**
 * Sets the columns of the first row for a moment. At the beginning of an epoch an older transaction of
 * somebody else may be in progress; of this epoch there is nothing before the beginning of the log.
 */
function moment(name: string): string {
  return `      SELECT ${STORE_STATE}, s.epoch, now.lsn - '0/0'::pg_lsn, l.begins, oldest.id::text,
          greatest(l.begins, s.base - 1 + ${REVISIONS_PER_TRANSACTION} *
            coalesce(oldest.id, pg_snapshot_xmax(pg_current_snapshot()))::text::bigint)
        INTO state, epoch, lsn, begins, key, horizon
        FROM ${name}.store s, ${name}.log l,
          (SELECT (
            SELECT x.id FROM pg_snapshot_xip(pg_current_snapshot()) x(id)
              WHERE x.id <> ALL (p_foreign) ORDER BY x.id LIMIT 1
          ) AS id) oldest,
          ${SEEN_AND_NOW};
      revision := greatest(begins, least(p_known, horizon), (
        SELECT c.revision FROM ${name}.changes c WHERE c.revision <= horizon ORDER BY c.revision DESC LIMIT 1
      ));`
}
