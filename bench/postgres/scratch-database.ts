import { consoleLogger } from "../../src/index.js"
import type { ClusterStore } from "../../src/ports/store.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { postgresStore } from "../../src/stores/postgres/index.js"
import { PostgresServer } from "../../tools/engines/postgres-server.js"

/** The most connections to it, for the driver by itself. */
export const MOST_CONNECTIONS = 64

let server: Promise<PostgresServer> | undefined
let users = 0

/** A PostgreSQL server that flushes, on the disk of the temporary folder. Both sides of a row use the same one. */
export async function scratchDatabase(): Promise<{ readonly url: string; release(): Promise<void> }> {
  users += 1
  server ??= PostgresServer.start({ settings: { max_connections: MOST_CONNECTIONS + 20 } })
  const { url } = await server
  return {
    url,
    release: async () => {
      users -= 1
      if (users > 0) return
      await (await server)?.remove()
      server = undefined
    },
  }
}

export async function openScratchStore(): Promise<{ readonly store: ClusterStore; remove(): Promise<void> }> {
  const { url, release } = await scratchDatabase()
  const ports = nodePorts({ logger: consoleLogger({ level: "warn" }) })
  return { store: await postgresStore({ url, timeoutMs: 30_000 }).open("bench", ports), remove: release }
}
