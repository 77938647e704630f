import { writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { freePort } from "../free-port.js"
import { EngineServer } from "./engine-server.js"
import { programsOf } from "./engines.js"
import type { PostgresServer } from "./postgres-server.js"
import { ServerProcess, serverFolder } from "./server-process.js"
import { giveToUnprivileged, unprivileged } from "./unprivileged.js"

export interface PgBouncerOptions {
  /** When a connection of the server is given to another client. Default `transaction`. */
  readonly poolMode?: "session" | "transaction" | "statement"
  /** Further settings, such as `{ default_pool_size: 2 }`. */
  readonly settings?: Readonly<Record<string, string | number>>
}

/** PgBouncer between clients and a PostgreSQL server, with the same database, user and password. */
export class PgBouncer extends EngineServer {
  readonly port: number
  readonly url: string

  private constructor(server: PostgresServer, folder: string, port: number) {
    super(new ServerProcess("PgBouncer", folder))
    this.port = port
    this.url = server.urlAt(port)
  }

  static async start(server: PostgresServer, options: PgBouncerOptions = {}): Promise<PgBouncer> {
    const { pgbouncer, libraryPath } = await programsOf("pgbouncer")
    const folder = serverFolder()
    const bouncer = new PgBouncer(server, folder, await freePort())
    const settings = {
      listen_addr: "127.0.0.1",
      listen_port: bouncer.port,
      unix_socket_dir: "",
      auth_type: "scram-sha-256",
      auth_file: join(folder, "users"),
      pool_mode: options.poolMode ?? "transaction",
      ...options.settings,
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
    const database = `${server.database} = host=${server.host} port=${server.port}`
    write(join(folder, "pgbouncer.ini"), ["[databases]", database, "[pgbouncer]", ...lines, ""].join("\n"))
    write(join(folder, "users"), `"${server.user}" "${server.password}"\n`)
    const start = unprivileged([
      "env",
      `LD_LIBRARY_PATH=${libraryPath}`,
      pgbouncer,
      join(folder, "pgbouncer.ini"),
    ])
    await bouncer.process.start(start, () => isListening(bouncer.port))
    return bouncer
  }
}

function write(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
  giveToUnprivileged(file)
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })
}
