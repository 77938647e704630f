import assert from "node:assert/strict"
import { assertKnown } from "../known-options.js"

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * The server, as `postgres://user:password@host:port/database`. Where a list is given, the first one that
   * is a primary server is used, so that a failover needs no new settings. Replaces `host`, `port` and
   * `database`.
   */
  readonly url?: string | readonly string[]
  /** The host, or the folder of the server's Unix socket. Default "localhost". */
  readonly host?: string
  /** Default 5432. */
  readonly port?: number
  /** Default the name of the role. */
  readonly database?: string
  /** The role. Overrides that of `url`. */
  readonly user?: string
  /** The password, or a function that returns one for each connection, such as a token that expires. */
  readonly password?: string | (() => string | Promise<string>)
  /** TLS: `true`, or options of `tls.connect` such as `ca`. Overrides `sslmode` of `url`. */
  readonly ssl?: boolean | Readonly<Record<string, unknown>>
  /** The schema with the tables of the store; created if it is missing. Default "troupe". */
  readonly schema?: string
  /** The most connections for requests. Leases and the watch have one more each. Default 4. */
  readonly maxConnections?: number
  /** How long a request waits for its answer before it is rejected. Default 5,000. */
  readonly timeoutMs?: number
  /** How often watches look for changes of which no notification came. Default 500. */
  readonly pollMs?: number
  /** About how many changes are kept for watches that fall behind. Default 100,000. */
  readonly keptChanges?: number
}

/** Options that were checked, with defaults. */
export interface StoreSettings {
  readonly servers: readonly Server[]
  /** All servers, as errors name them. */
  readonly place: string
  readonly schema: string
  readonly maxConnections: number
  readonly timeoutMs: number
  readonly pollMs: number
  readonly keptChanges: number
}

export interface Server {
  /** As errors name it: without the password. */
  readonly place: string
  /** Returns the settings of the driver for a new connection. */
  config(): Promise<Readonly<Record<string, unknown>>>
}

export function settingsOf(options: PostgresStoreOptions): StoreSettings {
  assertKnown(options, NAMES)
  const {
    url,
    schema = "troupe",
    maxConnections = 4,
    timeoutMs = 5_000,
    pollMs = 500,
    keptChanges = 100_000,
  } = options
  const urls = url === undefined ? [undefined] : typeof url === "string" ? [url] : url
  assert(urls.length > 0, "url must name at least one server")
  assert(
    url === undefined || (options.host ?? options.port ?? options.database) === undefined,
    "url must not be combined with host, port or database; make them part of url",
  )
  assert(
    /^[a-z_][a-z0-9_]{0,39}$/.test(schema),
    `schema must consist of at most 40 lower-case letters, digits and _, and must not begin with a digit (got ${schema})`,
  )
  for (const [name, value] of Object.entries({ maxConnections, timeoutMs, pollMs, keptChanges })) {
    assert(Number.isFinite(value) && value > 0, `${name} must be above 0 (got ${value})`)
  }
  const servers = urls.map((one) => (one === undefined ? serverOf(options) : serverAt(one, options)))
  return {
    servers,
    place: servers.map(({ place }) => place).join(", "),
    schema,
    maxConnections,
    timeoutMs,
    pollMs,
    keptChanges,
  }
}

const NAMES: readonly (keyof PostgresStoreOptions)[] = [
  ...(["url", "host", "port", "database", "user", "password", "ssl"] as const),
  ...(["schema", "maxConnections", "timeoutMs", "pollMs", "keptChanges"] as const),
]

function serverOf({
  host = "localhost",
  port = 5432,
  database,
  user,
  password,
  ssl,
}: PostgresStoreOptions): Server {
  return {
    place: `${host}:${port}${database === undefined ? "" : `/${database}`}`,
    config: async () => ({
      host,
      port,
      ...given({ database, user, ssl, password: await current(password) }),
      ...ALWAYS,
    }),
  }
}

/**
 * What the address says overrides everything else in the driver, so user and password are made part of it.
 */
function serverAt(text: string, { user, password, ssl }: PostgresStoreOptions): Server {
  assert(
    /^postgres(ql)?:\/\//.test(text) && URL.canParse(text),
    "url must be an address that begins with postgres:// or postgresql://",
  )
  const { host, pathname } = new URL(text)
  return {
    place: `${host}${pathname}`,
    config: async () => {
      const url = new URL(text)
      if (user !== undefined) url.username = encodeURIComponent(user)
      const secret = await current(password)
      if (secret !== undefined) url.password = encodeURIComponent(secret)
      return { connectionString: url.href, ...given({ ssl }), ...ALWAYS }
    },
  }
}

const ALWAYS = { application_name: "troupe", keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

async function current(password: PostgresStoreOptions["password"]): Promise<string | undefined> {
  return typeof password === "function" ? await password() : password
}

function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
