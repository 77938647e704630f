import type { Connection, SqlRow } from "./driver.js"
import { isBusy, refusal } from "./problem.js"
import { BEGIN_READING, BEGIN_WRITING, inTransaction } from "./transaction.js"

/**
 * Decides whether a file of the first format may be upgraded.
 *
 * Once the file is upgraded, every request of an older process that has it open fails, so a node of an older
 * version would lose its actors. The file is therefore not upgraded while such a node may run:
 *
 * - Without a lease there is no node. A process that has the file open is about to join, and cannot.
 * - A lease stays in the file if its node was killed, and tells nothing about when. But a process that has
 *   the file open holds a lock on it, which the system releases when the process dies. If no other process
 *   has the file open, the nodes of all leases have died, or have lost the store and cannot reach it again.
 *   Their leases are kept, and expire as usual.
 * - Otherwise the upgrade is refused.
 *
 * The name of the race is the late joiner: (1) this process finds a lease of a dead node, and that nobody has
 * the file open; (2) an older node opens the file, joins and runs actors; (3) this process upgrades the file.
 * So the leases are compared again in the transaction that upgrades: those of (1) must be the only ones, at
 * the same revisions.
 */
export function upgradeUnlessInUse(connection: Connection, file: string, upgrade: Upgrade): void {
  const before = inTransaction(connection, BEGIN_READING, () => leasesIn(connection))
  const ofTheDead = before.size > 0 && isAlone(connection) ? before : NOBODY
  inTransaction(connection, BEGIN_WRITING, () => {
    // Another process may have been faster, and the leases may be those of its node.
    if (!upgrade.isDue()) return
    const living = [...leasesIn(connection)].filter(([key, revision]) => ofTheDead.get(key) !== revision)
    if (living.length > 0) throw inUse(file, living)
    upgrade.run()
  })
}

/** Both are called within a transaction. */
interface Upgrade {
  /** Whether the file still has the first format. */
  isDue(): boolean
  run(): void
}

type Leases = ReadonlyMap<string, number>

/** Returns the leases of all namespaces, by their keys, with their revisions. */
function leasesIn(connection: Connection): Leases {
  const namespaceFrom = connection.prepare("SELECT key FROM entries WHERE key >= ? ORDER BY key LIMIT 1")
  const leases = connection.prepare("SELECT key, revision FROM entries WHERE key >= ? AND key < ?")
  const found = new Map<string, number>()
  for (let row = namespaceFrom.get(""); row !== undefined; ) {
    const namespace = keyOf(row).split("/", 1)[0] as string
    for (const lease of leases.all(`${namespace}/leases/`, `${namespace}/leases0`)) {
      found.set(keyOf(lease), Number(lease["revision"]))
    }
    // The character after the slash: the keys of one namespace are skipped, whatever their number.
    row = namespaceFrom.get(`${namespace}0`)
  }
  return found
}

/** Whether no other connection, of any process, has the file open: only then can SQLite remove the log. */
function isAlone(connection: Connection): boolean {
  try {
    connection.exec("PRAGMA journal_mode = DELETE")
  } catch (error) {
    if (!isBusy(error)) throw error
  }
  const mode = connection.prepare("PRAGMA journal_mode").get()?.["journal_mode"]
  connection.exec("PRAGMA journal_mode = WAL")
  return mode === "delete"
}

function inUse(file: string, leases: readonly (readonly [key: string, revision: number])[]): Error {
  const nodes = leases.map(([key]) => {
    const [namespace, , ...node] = key.split("/")
    return `${node.join("/")} (namespace ${namespace})`
  })
  const shown =
    nodes.length > 3 ? `${nodes.slice(0, 3).join(", ")} and ${nodes.length - 3} more` : nodes.join(", ")
  const what = `was written by an older version of Troupe, whose nodes may still use it: ${shown} ${nodes.length > 1 ? "have leases" : "has a lease"}, and the file is open in another process`
  const advice =
    "stop all processes of the older version, and start again; leases of nodes that have died are no obstacle once no other process has the file open"
  return refusal("unsuitable", `the store ${file} ${what}; ${advice}`)
}

function keyOf(row: SqlRow): string {
  return String(row["key"])
}

const NOBODY: Leases = new Map()
