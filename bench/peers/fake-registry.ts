import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * A registry that is of no use, and a temporary folder that is empty: what a program finds there afterwards,
 * it has left.
 */
export interface FakeRegistry {
  readonly environment: NodeJS.ProcessEnv
  readonly temporary: string
  left(): readonly string[]
  stop(): void
}

/** `refuses` connections, or accepts them and is `silent`. */
export async function fakeRegistry(kind: "refuses" | "silent"): Promise<FakeRegistry> {
  const server = createServer((socket) => socket.on("error", () => {}))
  const port = await listening(server)
  if (kind === "refuses") server.close()
  const folder = mkdtempSync(join(tmpdir(), "troupe-registry-"))
  const temporary = mkdtempSync(join(folder, "tmp-"))
  return {
    temporary,
    environment: {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: join(folder, "cache"),
      NO_PROXY: "127.0.0.1",
      TMPDIR: temporary,
      // Newer versions of Node keep the compiled code of npm in there.
      NODE_DISABLE_COMPILE_CACHE: "1",
    },
    left: () => readdirSync(temporary),
    stop: () => {
      server.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port))
  })
}
