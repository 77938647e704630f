import type { ClusterStore } from "../../../../src/ports/store.js"
import { nodePorts } from "../../../../src/runtime/node-ports.js"
import { sqliteStore } from "../../../../src/stores/sqlite/index.js"

/** The store whose file is the first argument of the program. */
export function openStore(): Promise<ClusterStore> {
  return sqliteStore({ file: process.argv[2] as string }).open("test", nodePorts())
}

/** Reports to the test that started the program. */
export function report(what: unknown): void {
  process.send?.(what)
}
