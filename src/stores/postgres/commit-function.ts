import { STORE_STATE } from "./epoch-function.js"
import { PLANNING, REVISIONS_PER_TRANSACTION, ROW, type StoreSchema } from "./store-schema.js"

/**
 * The function that makes a batch of commits: one call, one transaction, one flush.
 *
 * **Order.** A counter row would order commits, and would make each wait for the flush of the one before,
 * also on other keys. Here a commit locks its keys, then reads, then takes the id of its transaction, which
 * is its revision (times 64, plus the index of the commit in its batch, plus the base of the epoch).
 *
 * 1. The locks are held until the transaction has ended and is visible. So of two commits that share a key,
 *    which one of them writes, one has ended before the other reads: each sees the effects of the one before.
 *    Under READ COMMITTED each statement of the function has a new snapshot, taken after the locks; under any
 *    other isolation level the first snapshot would remain, so the function refuses to run there.
 * 2. The id is assigned after the locks, so it grows along each key. It comes from one counter, so it is
 *    above those of all transactions that ended before this one was sent.
 * 3. The locks are advisory, by a hash of the key, because a key that is absent has no row to lock. They are
 *    taken in ascending order, each in its final mode, so that no two commits wait for each other. Keys that
 *    are not written are locked in shared mode: all claims of a node share its record. Those that are only
 *    read are locked as well, or a commit could read a key before, and become visible after, one that writes
 *    it.
 *
 * **Epoch.** The shared epoch lock is the first one, so a new epoch, which takes it exclusively, waits for
 * all commits of the old one. It is taken before the id is assigned, by which the reader of changes tells our
 * transactions from those of others (see `foreign-transactions.ts`).
 *
 * **Durability.** A commit is answered once it is flushed, here and on synchronous standbys, whatever the
 * server's default is. The setting is local to the transaction: as a setting of the function it would end
 * with the function, before the commit. No id is taken where nothing changes: such a transaction is not
 * flushed, and its id could be assigned again after a crash. It has a revision with the last index, which no
 * commit has.
 *
 * Two commits of one batch must not write the same key, nor may one write a key that the other reads or has a
 * condition on: all conditions are evaluated before the first write.
 *
 * The first row has the state of the store and, in `revision`, the revision of the commit with index 0, or of
 * all of them if `n` is 0 and nothing was changed. The rows after it are the conditions that did not hold:
 * `n` is the position of the condition, from 1. The last rows are what the commits that were made have read:
 * `n` is the position of the read, from -1 downwards; an absent key has no `value`.
 */
export function commitFunction({ name, epochLock }: StoreSchema): string {
  return `    CREATE FUNCTION ${name}.commit_2(
      p_epoch text, p_seen bigint, p_lock_ms int,
      k_key text[], k_written boolean[],
      c_commit int[], c_at int[], c_revision bigint[],
      w_commit int[], w_at int[], w_value bytea[], w_watched boolean[],
      d_commit int[], d_at int[], d_watched boolean[],
      r_commit int[], r_at int[]
    ) RETURNS TABLE (${ROW})
    LANGUAGE plpgsql VOLATILE ${PLANNING} AS $function$
    #variable_conflict use_column
    DECLARE
      base bigint;
      known bigint[];
      refused int[];
      done boolean;
    BEGIN
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the isolation level is %', current_setting('transaction_isolation')
          USING ERRCODE = 'TR001';
      END IF;
      IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
        done := set_config('synchronous_commit', 'on', true) IS NULL;
      END IF;
      -- As expressions: each statement costs as much as all else that it does here.
      done := set_config('lock_timeout', p_lock_ms::text, true) IS NULL;
      done := pg_advisory_xact_lock_shared(${epochLock}) IS NULL;
      PERFORM CASE WHEN l.written THEN pg_advisory_xact_lock(l.id) IS NULL
          ELSE pg_advisory_xact_lock_shared(l.id) IS NULL END
        FROM (
          SELECT hashtextextended(k.key, ${epochLock}) AS id, bool_or(k.written) AS written
          FROM unnest(k_key, k_written) k(key, written) GROUP BY 1 ORDER BY 1
        ) l;

      SELECT ${STORE_STATE}, s.epoch, now.lsn - '0/0'::pg_lsn, s.base,
          array(
            SELECT e.revision FROM unnest(k_key) WITH ORDINALITY k(key, n)
              LEFT JOIN ${name}.entries e ON e.key = k.key ORDER BY k.n
          )
        INTO state, epoch, lsn, base, known
        FROM ${name}.store s, (SELECT p_epoch AS epoch, p_seen AS lsn) seen,
          (SELECT pg_current_wal_flush_lsn() AS lsn) now;
      IF state <> 'valid' OR epoch <> p_epoch THEN
        RETURN NEXT;
        RETURN;
      END IF;

      refused := array(
        SELECT c.commit FROM unnest(c_commit, c_at, c_revision) c(commit, at, revision)
          WHERE known[c.at] IS DISTINCT FROM c.revision
      );
      INSERT INTO ${name}.entries AS e (key, revision, value)
        SELECT k_key[w.at], base + pg_current_xact_id()::text::bigint * ${REVISIONS_PER_TRANSACTION} + w.commit, w.value
          FROM unnest(w_commit, w_at, w_value) w(commit, at, value) WHERE w.commit <> ALL (refused)
        ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, value = excluded.value;
      IF array_length(d_at, 1) > 0 THEN
        INSERT INTO ${name}.tombstones AS t (key, revision)
          SELECT k_key[d.at], base + pg_current_xact_id()::text::bigint * ${REVISIONS_PER_TRANSACTION} + d.commit
            FROM unnest(d_commit, d_at) d(commit, at)
            WHERE d.commit <> ALL (refused) AND known[d.at] IS NOT NULL
          ON CONFLICT (key) DO UPDATE SET revision = excluded.revision;
        DELETE FROM ${name}.entries e
          USING unnest(d_commit, d_at) d(commit, at)
          WHERE d.commit <> ALL (refused) AND e.key = k_key[d.at];
      END IF;
      IF pg_current_xact_id_if_assigned() IS NULL THEN
        n := 0;
        revision := base - 1 +
          pg_snapshot_xmax(pg_current_snapshot())::text::bigint * ${REVISIONS_PER_TRANSACTION};
      ELSE
        n := 1;
        revision := base + pg_current_xact_id()::text::bigint * ${REVISIONS_PER_TRANSACTION};
        IF true = ANY (w_watched) OR true = ANY (d_watched) THEN
          INSERT INTO ${name}.changes (revision, part, key, value)
            SELECT revision + w.commit, w.n, k_key[w.at], w.value
              FROM unnest(w_commit, w_at, w_value, w_watched) WITH ORDINALITY w(commit, at, value, watched, n)
              WHERE w.watched AND w.commit <> ALL (refused)
            UNION ALL
            SELECT revision + d.commit, -d.n, k_key[d.at], NULL
              FROM unnest(d_commit, d_at, d_watched) WITH ORDINALITY d(commit, at, watched, n)
              WHERE d.watched AND d.commit <> ALL (refused) AND known[d.at] IS NOT NULL;
        END IF;
      END IF;
      RETURN NEXT;

      IF array_length(refused, 1) > 0 THEN
        RETURN QUERY
          SELECT NULL::text, NULL::text, NULL::bigint, NULL::bigint, c.n, NULL::text, e.revision, e.value
            FROM unnest(c_at, c_revision) WITH ORDINALITY c(at, revision, n)
              LEFT JOIN ${name}.entries e ON e.key = k_key[c.at]
            WHERE known[c.at] IS DISTINCT FROM c.revision ORDER BY c.n;
      END IF;
      IF array_length(r_at, 1) > 0 THEN
        RETURN QUERY
          SELECT NULL::text, NULL::text, NULL::bigint, NULL::bigint, -r.n, NULL::text, e.revision, e.value
            FROM unnest(r_commit, r_at) WITH ORDINALITY r(commit, at, n)
              LEFT JOIN ${name}.entries e ON e.key = k_key[r.at]
            WHERE r.commit <> ALL (refused) ORDER BY r.n;
      END IF;
    END
    $function$;`
}
