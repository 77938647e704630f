import { PLANNING } from "./commit-function.js"
import { STORE_STATE } from "./epoch-function.js"
import { REVISIONS_PER_TRANSACTION, type StoreSchema } from "./schema.js"

/**
 * The functions that read. All of their statements have the snapshot of the call, because they are stable,
 * so the first row, which has the state of the store, and the others belong to one moment.
 */

/** Reads keys. Each has a row: `n` is its position, from 1; one that is absent has no `value`. */
export function getFunction({ name }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.get_1(p_epoch text, p_seen bigint, p_keys text[])
    RETURNS TABLE (${ROW}) LANGUAGE plpgsql STABLE ${PLANNING} AS $function$
    #variable_conflict use_column
    BEGIN
      RETURN QUERY ${head(name, "l.absent_at")};
      RETURN QUERY
        SELECT NULL::text, NULL::text, NULL::bigint, k.n, NULL::text,
            coalesce(e.revision, greatest(t.revision, l.absent_at)), e.value
          FROM ${name}.log l, unnest(p_keys) WITH ORDINALITY k(key, n)
            LEFT JOIN ${name}.entries e ON e.key = k.key
            LEFT JOIN ${name}.tombstones t ON e.key IS NULL AND t.key = k.key
          ORDER BY k.n;
    END
    $function$;`
}

/**
 * Reads a page of the keys from `p_from` to before `p_to`, one more than are asked for: `n` is the number of
 * keys that there are up to that one. A page ends early once its values exceed a limit.
 */
export function listFunction({ name }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.list_1(
      p_epoch text, p_seen bigint, p_from text, p_to text, p_limit int, p_bytes bigint, p_foreign xid8[]
    ) RETURNS TABLE (${ROW}) LANGUAGE plpgsql STABLE ${PLANNING} AS $function$
    #variable_conflict use_column
    BEGIN
      RETURN QUERY ${head(name, horizon("p_foreign"))};
      RETURN QUERY
        SELECT NULL::text, NULL::text, NULL::bigint, p.n, p.key, p.revision, p.value FROM (
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
 * Reads changes after a revision, as far as all of them are decided. The first row has the horizon in
 * `revision`, the beginning of the log in `n`, and in `key` the transaction that holds the horizon back, if
 * there is one.
 */
export function changesFunction({ name }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.changes_1(
      p_epoch text, p_seen bigint, p_after bigint, p_limit int, p_foreign xid8[]
    ) RETURNS TABLE (${ROW}) LANGUAGE plpgsql STABLE ${PLANNING} AS $function$
    #variable_conflict use_column
    DECLARE
      through bigint;
    BEGIN
      SELECT h.state, h.epoch, h.lsn, h.n, h.key, h.revision INTO state, epoch, lsn, n, key, revision
        FROM (${head(name, horizon("p_foreign"), "l.begins", `(${oldestOwn("p_foreign")})::text`)}) h;
      through := revision;
      RETURN NEXT;
      RETURN QUERY
        SELECT NULL::text, NULL::text, NULL::bigint, NULL::bigint, c.key, c.revision, c.value
          FROM ${name}.changes c WHERE c.revision > p_after AND c.revision <= through
          ORDER BY c.revision, c.part LIMIT p_limit;
    END
    $function$;`
}

const ROW = "state text, epoch text, lsn bigint, n bigint, key text, revision bigint, value bytea"

function head(name: string, revision: string, n = "NULL::bigint", key = "NULL::text"): string {
  return `SELECT ${STORE_STATE} AS state, s.epoch AS epoch, (now.lsn - '0/0'::pg_lsn)::bigint AS lsn,
          ${n} AS n, ${key} AS key, (${revision})::bigint AS revision, NULL::bytea AS value
        FROM ${name}.store s, ${name}.log l, (SELECT p_epoch AS epoch, p_seen AS lsn) seen,
          (SELECT pg_current_wal_flush_lsn() AS lsn) now`
}

/** The oldest transaction in progress that may be a commit of ours. */
function oldestOwn(foreign: string): string {
  return `SELECT x.id FROM pg_snapshot_xip(pg_current_snapshot()) x(id)
      WHERE x.id <> ALL (${foreign}) ORDER BY x.id LIMIT 1`
}

/**
 * The last revision before which everything is decided: the commits of all lower ones have ended, and the
 * snapshot shows them. At the beginning of an epoch an older transaction of somebody else may be in progress;
 * of this epoch there is nothing before the beginning of the log.
 */
function horizon(foreign: string): string {
  return `greatest(l.begins, s.base - 1 + ${REVISIONS_PER_TRANSACTION} *
    coalesce((${oldestOwn(foreign)}), pg_snapshot_xmax(pg_current_snapshot()))::text::bigint)`
}
