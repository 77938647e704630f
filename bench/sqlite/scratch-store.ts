import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { consoleLogger } from "../../src/index.js"
import type { ClusterStore } from "../../src/ports/store.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"

/**
 * A file in a folder that is gone afterwards. On the disk of the temporary folder: what that can do decides
 * much.
 */
export function scratchFile(): { readonly file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "troupe-bench-"))
  return { file: join(folder, "store.db"), remove: () => rmSync(folder, { recursive: true }) }
}

export function openStore(file: string): Promise<ClusterStore> {
  return sqliteStore({ file }).open("bench", nodePorts({ logger: consoleLogger({ level: "warn" }) }))
}
