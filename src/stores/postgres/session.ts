import { type Client, type ConnectClient, loadDriver, type Parameter, type Row } from "./driver.js"
import type { Server, StoreSettings } from "./options.js"
import { refusal, unavailable } from "./problem.js"
import type { StoreSchema } from "./store-schema.js"

/**
 * One connection to the server. It runs one statement at a time, each a transaction of its own, and nothing
 * of it stays in the session: a pooler may give each statement another connection to the server.
 *
 * A connection that has not answered in time is cut, because nothing else can be sent on it. It keeps the
 * process alive only while a statement is in flight.
 */
export class Session {
  readonly place: string
  /** Whether the connection is with a pooler, so that notifications do not arrive. */
  readonly isPooled: boolean
  readonly hasStore: boolean
  /** Whether the store has all that this version uses. */
  readonly isCurrent: boolean
  readonly #client: Client
  readonly #timeoutMs: number
  #isOpen = true
  #onNotified: (payload: string) => void = () => {}

  /** Connects to the first server that accepts writes. Rejects with a `StoreUnavailableError`. */
  static async open(schema: StoreSchema, { servers, timeoutMs }: StoreSettings): Promise<Session> {
    const connect = await loadDriver()
    let first: unknown
    for (const server of servers) {
      try {
        return await openAt(server, schema, { connect, connectMs: timeoutMs / servers.length, timeoutMs })
      } catch (error) {
        first ??= error
      }
    }
    throw first
  }

  constructor(client: Client, { place }: Server, hello: Row, timeoutMs: number) {
    this.#client = client
    this.place = place
    this.#timeoutMs = timeoutMs
    const [backend, , , , hasStore, isCurrent] = hello
    this.isPooled = client.processID !== backend
    this.hasStore = hasStore === true
    this.isCurrent = isCurrent === true
    client.on("error", () => this.cut())
    client.on("end", () => this.cut())
    client.on("notification", ({ payload }) => this.#onNotified(payload ?? ""))
    client.unref()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Runs a statement. Rejects with the error of the driver. */
  async run(text: string, values: readonly Parameter[] = []): Promise<readonly Row[]> {
    this.#client.ref()
    const timer = setTimeout(() => this.cut(), this.#timeoutMs)
    try {
      const { rows } = await this.#client.query({ text, values, rowMode: "array" })
      return rows
    } catch (error) {
      // Errors that are not of the statement end the session.
      if ((error as { severity?: unknown }).severity !== "ERROR") this.cut()
      throw error
    } finally {
      clearTimeout(timer)
      this.#client.unref()
    }
  }

  onNotified(listener: (payload: string) => void): void {
    this.#onNotified = listener
  }

  /** Ends the connection at once. A statement in flight fails; whether it is carried out is not known. */
  cut(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    const timer = setTimeout(() => this.#client.connection.stream.destroy(), 1_000)
    await this.#client.end().catch(() => {})
    clearTimeout(timer)
  }
}

interface OpenOptions {
  readonly connect: ConnectClient
  /** A server that does not answer leaves time for the next one. */
  readonly connectMs: number
  readonly timeoutMs: number
}

async function openAt(
  server: Server,
  schema: StoreSchema,
  { connect, connectMs, timeoutMs }: OpenOptions,
): Promise<Session> {
  const { place } = server
  let client: Client | undefined
  // The server may accept a connection and then say nothing.
  const timer = setTimeout(() => client?.connection.stream.destroy(), connectMs)
  try {
    client = new connect(await server.config())
    // Without a listener, a connection that ends between statements would end the process.
    client.on("error", () => {})
    await client.connect()
    const { rows } = await client.query({ text: helloOf(schema), values: [], rowMode: "array" })
    const [hello] = rows as [Row]
    const problem = problemOf(hello, place)
    if (problem !== undefined) throw problem
    return new Session(client, server, hello, timeoutMs)
  } catch (error) {
    client?.connection.stream.destroy()
    throw unavailable(error, place, false)
  } finally {
    clearTimeout(timer)
  }
}

/** Describes the server, and whether it has the store, and the latest of its functions. */
function helloOf({ name }: StoreSchema): string {
  return `SELECT pg_backend_pid(), pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',
  current_setting('server_version_num')::int, to_regclass('${name}.store') IS NOT NULL,
  to_regproc('${name}.commit_2') IS NOT NULL`
}

function problemOf([, isStandby, isReadOnly, version]: Row, place: string): Error | undefined {
  if (isStandby === true || isReadOnly === true) {
    const what = isStandby === true ? "is a standby" : "is read-only for this role"
    const advice = "connect to the primary server, or list all servers in url"
    return refusal("standby", `the store at ${place} ${what}; ${advice}`)
  }
  if (Number(version) < OLDEST_VERSION) {
    const what = `has PostgreSQL ${Math.floor(Number(version) / 10_000)}`
    return refusal("unsuitable", `the store at ${place} ${what}; PostgreSQL 14 or later is needed`)
  }
  return undefined
}

/** PostgreSQL 14: 13 lacks some functions of snapshots in SQL. */
const OLDEST_VERSION = 140_000
