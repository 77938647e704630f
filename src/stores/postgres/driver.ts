import { refusal } from "./problem.js"

/** What the store needs of `pg`: one connection, which runs one statement at a time. */
export interface Client {
  /** The number by which a server, or a pooler in between, knows the connection. */
  readonly processID: number | null
  connect(): Promise<unknown>
  query(statement: Statement): Promise<{ readonly rows: Row[] }>
  on(event: "error" | "end", listener: (error?: Error) => void): void
  on(event: "notification", listener: (notification: { readonly payload?: string }) => void): void
  end(): Promise<void>
  ref(): void
  unref(): void
  /** Where a connection is cut without a farewell. */
  readonly connection: { readonly stream: { destroy(): void } }
}

export interface Statement {
  readonly text: string
  readonly values: readonly Parameter[]
  readonly rowMode: "array"
}

/** A `Buffer` is sent in binary format, everything else as text. */
export type Parameter = string | number | boolean | Buffer | null

/** Columns as the driver parses them: a `bigint` is text, `bytea` a `Buffer`. */
export type Row = readonly unknown[]

export type ConnectClient = new (config: Readonly<Record<string, unknown>>) => Client

let loaded: Promise<ConnectClient> | undefined

/** Rejects if `pg` is not installed. */
export function loadDriver(): Promise<ConnectClient> {
  loaded ??= import(PG).then(
    ({ default: pg }: { readonly default: { readonly Client: ConnectClient } }) => pg.Client,
    (error: unknown) => {
      loaded = undefined
      throw refusal(
        "unsuitable",
        "troupe/postgres needs the package pg, which could not be loaded; run npm install pg",
        error,
      )
    },
  )
  return loaded
}

/** Not a literal at the import: the package is optional, and a bundler would fail without it. */
const PG: string = "pg"
