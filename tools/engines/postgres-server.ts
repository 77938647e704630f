import { appendFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../free-port.js"
import { command } from "./command.js"
import { copyFolder } from "./copied-folder.js"
import { EngineServer } from "./engine-server.js"
import { type DumpPrograms, type PostgresPrograms, programsOf } from "./engines.js"
import { ServerProcess, serverFolder } from "./server-process.js"
import { serverTls } from "./server-tls.js"
import { SqlConnection, type SqlRow } from "./sql-connection.js"
import { giveToUnprivileged, unprivileged } from "./unprivileged.js"

export interface PostgresOptions {
  /** Default 18. */
  readonly version?: 15 | 18
  /** Whether commits wait for the disk (default). */
  readonly fsync?: boolean
  /** Has the server accept TLS connections alone, with the certificate of `test/certificates`. Default false. */
  readonly tls?: boolean
  /** Further settings of the server, such as `{ max_connections: 20 }`. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Where clients connect. Default 127.0.0.1. */
  readonly host?: string
  /** A command that runs the server, such as one that enters a network namespace. */
  readonly command?: readonly string[]
}

/** A copy of a server's files, as a file system backup has them. `PostgresServer.restored` starts a server on it. */
export interface PostgresBackup {
  readonly folder: string
  readonly options: PostgresOptions
  remove(): void
}

/**
 * A PostgreSQL server of a test: on a free port of the loopback interface, in a temporary folder. Its database `troupe`
 * belongs to the user `troupe`, who is no superuser and authenticates with a password (SCRAM). The database sorts text
 * by the rules of English, as most databases do, and not by bytes.
 */
export class PostgresServer extends EngineServer {
  readonly host: string
  readonly port: number
  readonly user = "troupe"
  readonly password = "troupe password"
  readonly database = "troupe"
  readonly #programs: PostgresPrograms
  readonly #options: PostgresOptions
  readonly #folder: string

  private constructor(programs: PostgresPrograms, options: PostgresOptions, folder: string, port: number) {
    super(new ServerProcess(`PostgreSQL ${options.version ?? 18}`, folder))
    this.host = options.host ?? "127.0.0.1"
    this.port = port
    this.#programs = programs
    this.#options = options
    this.#folder = folder
  }

  /** Creates a new database cluster, with a system identifier of its own, and starts its server. */
  static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
    const server = await PostgresServer.#prepared(options)
    const { initdb, postgres } = server.#programs
    const cwd = server.#folder
    await command(unprivileged([initdb, "-D", server.#data, ...INITDB]), { cwd })
    await command(unprivileged([postgres, "--single", "-D", server.#data, "postgres"]), {
      cwd,
      input: `CREATE ROLE ${server.user} LOGIN PASSWORD '${server.password}';
CREATE DATABASE ${server.database} OWNER ${server.user};
`,
    })
    server.#configure()
    return server.#started()
  }

  /** Starts a server on a copy of a backup: same system identifier, same timeline, state of the backup. */
  static async restored(backup: PostgresBackup): Promise<PostgresServer> {
    const server = await PostgresServer.#prepared(backup.options)
    await copyFolder(backup.folder, server.#data)
    return server.#started()
  }

  static async #prepared(options: PostgresOptions): Promise<PostgresServer> {
    const programs = await programsOf(`postgres-${options.version ?? 18}`)
    return new PostgresServer(programs, options, serverFolder(), await freePort())
  }

  /** What a client needs, in one line. */
  get url(): string {
    return this.urlAt(this.port)
  }

  /** The same for a client that reaches the server by another port of its host, such as that of a proxy. */
  urlAt(port: number): string {
    const secret = encodeURIComponent(this.password)
    return `postgres://${this.user}:${secret}@${this.host}:${port}/${this.database}`
  }

  /** The authority that has signed the server's certificate, if it has one. */
  get ca(): string | undefined {
    return this.#options.tls === true ? serverTls.ca : undefined
  }

  /** Stops the server as an administrator does; clients are disconnected. */
  async stop(): Promise<void> {
    await this.process.end("SIGINT")
  }

  /**
   * Stops the server if it runs, and starts it on the same port with what it has stored. After `kill` it recovers what
   * was committed.
   */
  async restart(): Promise<void> {
    if (this.isRunning) await this.stop()
    await this.#started()
  }

  /** Runs SQL as the superuser, and resolves with the rows of the last statement, each value as text. */
  async sql(text: string): Promise<readonly SqlRow[]> {
    const connection = await this.connect()
    try {
      return await connection.query(text)
    } finally {
      connection.close()
    }
  }

  /** A session of the superuser, which keeps its transactions and locks until it is closed. */
  connect(): Promise<SqlConnection> {
    return SqlConnection.open(join(this.#folder, `.s.PGSQL.${this.port}`), this.database)
  }

  /** Copies the files of the running server. Commits may go on meanwhile; those after the end are not in it. */
  async backup(): Promise<PostgresBackup> {
    const folder = join(serverFolder(), "data")
    await this.#copyTo(folder)
    return {
      folder,
      options: this.#options,
      remove: () => rmSync(join(folder, ".."), { recursive: true, force: true }),
    }
  }

  /** Starts a replica that streams from this server and answers read-only queries. */
  async standby(): Promise<PostgresServer> {
    const replica = await PostgresServer.#prepared(this.#options)
    await this.#copyTo(replica.#data)
    writeFileSync(join(replica.#data, "standby.signal"), "")
    const source = `host=${this.#folder} port=${this.port} user=postgres`
    appendFileSync(join(replica.#data, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`)
    giveToUnprivileged(join(replica.#data, "standby.signal"))
    return replica.#started()
  }

  /** Resolves once a replica has applied all that its primary has committed by now. */
  async caughtUpWith(primary: PostgresServer): Promise<void> {
    const [[end] = []] = await primary.sql("SELECT pg_current_wal_lsn()")
    await this.sql(
      `DO $$ BEGIN WHILE coalesce(pg_last_wal_replay_lsn() < '${end}', true) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$`,
    )
  }

  /** Has a replica stop receiving from its primary, whose later commits are lost if the replica is promoted. */
  async detach(): Promise<void> {
    await this.sql("ALTER SYSTEM SET primary_conninfo = ''")
    await this.sql("SELECT pg_reload_conf()")
    await this.sql(
      "DO $$ BEGIN WHILE EXISTS (SELECT FROM pg_stat_wal_receiver) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$",
    )
  }

  /** Makes a replica the primary, on a timeline of its own. */
  async promote(): Promise<void> {
    await this.sql("SELECT pg_promote()")
  }

  /** The database as SQL, by `pg_dump`. Of version 15 alone: see `pg-dump-15` in `engines.ts`. */
  async dump(): Promise<string> {
    const { programs, client } = await this.#dumpClient()
    return command([programs.pgDump, ...client, this.database], { env: librariesOf(programs) })
  }

  /** Runs the SQL of a dump, in a database of this server that is created for it in place of the one it has. */
  async restoreDump(dump: string): Promise<void> {
    const { programs, client } = await this.#dumpClient()
    const psql = [programs.psql, ...client, "--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1"]
    const create = `DROP DATABASE IF EXISTS ${this.database} WITH (FORCE);
CREATE DATABASE ${this.database} OWNER ${this.user};
`
    await command([...psql, "postgres"], { env: librariesOf(programs), input: create })
    await command([...psql, this.database], { env: librariesOf(programs), input: dump })
  }

  get #data(): string {
    return join(this.#folder, "data")
  }

  async #dumpClient(): Promise<{ readonly programs: DumpPrograms; readonly client: readonly string[] }> {
    const programs = await programsOf("pg-dump-15")
    return { programs, client: ["-h", this.#folder, "-p", `${this.port}`, "-U", "postgres"] }
  }

  async #started(): Promise<this> {
    const settings: Readonly<Record<string, string | number>> = {
      port: this.port,
      listen_addresses: this.host,
      unix_socket_directories: this.#folder,
      fsync: this.#options.fsync === false ? "off" : "on",
      // A replica that was away for a while finds what it missed.
      wal_keep_size: "256MB",
      ...this.#options.settings,
    }
    const assignments = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const start = unprivileged([this.#programs.postgres, "-D", this.#data, ...assignments])
    await this.process.start([...(this.#options.command ?? []), ...start], () => this.#isReady())
    return this
  }

  async #isReady(): Promise<boolean> {
    try {
      await this.sql("SELECT 1")
      return true
    } catch {
      return false
    }
  }

  #configure(): void {
    const network = this.#options.tls === true ? "hostssl" : "host"
    writeFileSync(
      join(this.#data, "pg_hba.conf"),
      `local all all trust
local replication all trust
${network} all all all scram-sha-256
`,
    )
    if (this.#options.tls !== true) return
    for (const [name, text] of [
      ["server.crt", serverTls.cert] as const,
      ["server.key", serverTls.key] as const,
    ]) {
      const file = join(this.#data, name)
      writeFileSync(file, text, { mode: 0o600 })
      giveToUnprivileged(file)
    }
    appendFileSync(join(this.#data, "postgresql.conf"), "ssl = on\n")
  }

  /** Copies the files while the server runs, by the protocol that the server has for this. */
  async #copyTo(folder: string): Promise<void> {
    const session = await this.connect()
    try {
      await session.query("SELECT pg_backup_start('copy', true)")
      await copyFolder(this.#data, folder)
      const [[label] = []] = await session.query("SELECT labelfile FROM pg_backup_stop(false)")
      writeFileSync(join(folder, "backup_label"), `${label}`)
      giveToUnprivileged(join(folder, "backup_label"))
      // What was committed until the end of the copy is in segments that may not have been complete when copied.
      await copyFolder(join(this.#data, "pg_wal"), join(folder, "pg_wal"))
      rmSync(join(folder, "postmaster.pid"), { force: true })
    } finally {
      session.close()
    }
  }
}

const INITDB = [
  ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"],
  ["--locale-provider=icu", "--icu-locale=en-US"],
].flat()

function librariesOf({ libraryPath }: DumpPrograms): Readonly<Record<string, string>> {
  return { LD_LIBRARY_PATH: libraryPath }
}
