import { Gate } from "./gate.js"

/**
 * The functions that the store needs of a SQLite library, and the two libraries that provide them: Node's
 * own, and `libsql` on older versions of Node. Both are synchronous, so they are used only on the worker
 * thread.
 */
export interface Connection {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint }
  /** Returns the first row. */
  get(...values: readonly SqlValue[]): SqlRow | undefined
  all(...values: readonly SqlValue[]): readonly SqlRow[]
}

export type SqlValue = string | number | Uint8Array | null

export type SqlRow = Readonly<Record<string, SqlValue>>

export type Connect = (file: string) => Connection

/**
 * Rejects if this version of Node has no SQLite and `libsql` is not installed. Only `libsql` needs the gate.
 */
export async function loadDriver(gate = new Gate()): Promise<Connect> {
  const builtIn = process.getBuiltinModule("node:sqlite") as BuiltInSqlite | undefined
  if (builtIn !== undefined) return (file) => new builtIn.DatabaseSync(file)
  const { default: Libsql }: { readonly default: typeof import("libsql") } = await import(LIBSQL)
  return (file) => new LibsqlConnection(gate.pass(() => new Libsql(file)) as unknown as Connection, gate)
}

/** Not a literal at the import: a bundler would include the package, whose binary cannot be bundled. */
const LIBSQL: string = "libsql"

/** Returns SQLite's primary result code, or undefined for an error that is not SQLite's. */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errcode, rawCode } = error as { code?: unknown; errcode?: unknown; rawCode?: unknown }
  const found = errcode ?? rawCode ?? /^ConnectionFailed\(".*: (\d+)"\)$/s.exec(error.message)?.[1]
  if (found !== undefined) return Number(found) & 0xff
  return code === "ERR_SQLITE_ERROR" ? codeOfMessage(error.message) : undefined
}

/** On Deno, errors of `exec` and of opening a file have SQLite's message and no result code. */
function codeOfMessage(message: string): number | undefined {
  return MESSAGES.find(([, begin]) => message.startsWith(begin))?.[0]
}

/** SQLite's messages for its primary result codes. */
const MESSAGES: readonly (readonly [code: number, begin: string])[] = [
  [3, "access permission denied"],
  [5, "database is locked"],
  [6, "database table is locked"],
  [6, "database schema is locked"],
  [7, "out of memory"],
  [8, "attempt to write a readonly database"],
  [10, "disk I/O error"],
  [11, "database disk image is malformed"],
  [13, "database or disk is full"],
  [14, "unable to open database file"],
  [15, "locking protocol"],
  [18, "string or blob too big"],
  [26, "file is not a database"],
]

/** The part of `node:sqlite` that is used; the types of the oldest supported Node do not have it. */
interface BuiltInSqlite {
  readonly DatabaseSync: new (file: string) => Connection
}

class LibsqlConnection implements Connection {
  readonly #connection: Connection
  readonly #gate: Gate

  constructor(connection: Connection, gate: Gate) {
    this.#connection = connection
    this.#gate = gate
  }

  exec(sql: string): void {
    this.#gate.pass(() => this.#connection.exec(sql))
  }

  prepare(sql: string): Statement {
    const statement = this.#gate.pass(() => this.#connection.prepare(sql))
    return {
      run: (...values) => this.#gate.pass(() => statement.run(...values)),
      get: (...values) => this.#gate.pass(() => statement.get(...values)),
      all: (...values) => this.#gate.pass(() => statement.all(...values)).map(withBytes),
    }
  }

  close(): void {
    this.#gate.pass(() => this.#connection.close())
  }
}

/** `all` returns an ArrayBuffer where `get` returns bytes. The row is changed: a copy of it takes long. */
function withBytes(row: Record<string, SqlValue | ArrayBuffer>): SqlRow {
  for (const name in row) {
    const value = row[name]
    if (value instanceof ArrayBuffer) row[name] = new Uint8Array(value)
  }
  return row as SqlRow
}
