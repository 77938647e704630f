import type { Row } from "./driver.js"
import type { Session } from "./session.js"
import type { StoreSchema } from "./store-schema.js"

/**
 * Transactions in progress that are not commits of this store. A watch reads up to the oldest transaction in
 * progress, and a transaction of somebody else, who keeps it open for minutes, would hold back all watches.
 * So when one is in the way for a while, the reader finds out which transactions are foreign, and leaves them
 * out of account from then on.
 *
 * A commit takes the epoch lock before it has an id, and keeps it until after it has ended. So a transaction
 * that has an id, but not the epoch lock, is foreign:
 *
 * 1. `pg_locks` is read once, in one instant *L*. A transaction is called foreign if it was in the snapshot
 *    of the statement, which is older than *L*, and at *L* has the lock of its own id and not the epoch lock.
 * 2. Let T be a commit of ours that is in progress in a snapshot S that is taken later. If T had its id at
 *    *L*, it had taken the epoch lock before, and has not released it, since that happens after T has left
 *    the list of transactions in progress, which S still saw it in. So T is not called foreign.
 * 3. If T had no id at *L*, it is not called foreign either. So all transactions that are left out of account
 *    in S are foreign, or have ended.
 *
 * Ids are never assigned twice, except after a crash of the server. Then all connections end, so what is
 * known here is forgotten whenever a connection is opened. A connection to a pooler does not end with the
 * server: behind a pooler nothing is left out of account, and watches wait.
 */
export class ForeignTransactions {
  readonly #schema: StoreSchema
  #ids: readonly string[] = []

  constructor(schema: StoreSchema) {
    this.#schema = schema
  }

  /** The foreign transactions, as an array of PostgreSQL. */
  get ids(): string {
    return `{${this.#ids.join(",")}}`
  }

  /** Finds the foreign transactions that are in progress now. Returns whether one of them has this id. */
  async find(session: Session, id: string): Promise<boolean> {
    if (session.isPooled) return false
    const rows = await session.run(foreignTransactions(this.#schema))
    this.#ids = rows.map(([found]: Row) => String(found))
    return this.#ids.includes(id)
  }

  forget(): void {
    this.#ids = []
  }
}

function foreignTransactions({ epochLock }: StoreSchema): string {
  const [high, low] = [BigInt.asUintN(32, epochLock >> 32n), BigInt.asUintN(32, epochLock)]
  return `WITH locks AS MATERIALIZED (SELECT * FROM pg_locks)
SELECT x.id::text FROM pg_snapshot_xip(pg_current_snapshot()) x(id), locks t
WHERE t.locktype = 'transactionid' AND t.mode = 'ExclusiveLock' AND t.granted AND t.transactionid = x.id::xid
  AND NOT EXISTS (
    SELECT FROM locks e WHERE e.virtualtransaction = t.virtualtransaction AND e.locktype = 'advisory'
      AND e.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND e.classid = ${high} AND e.objid = ${low} AND e.objsubid = 1 AND e.granted
  )`
}
