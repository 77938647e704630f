import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type * as Driver from "../../../src/stores/sqlite/driver.js"
import type * as Sqlite from "../../../src/stores/sqlite/index.js"
import type * as SqliteStore from "../../../src/stores/sqlite/sqlite-store.js"
import { compiledOnce } from "../../../tools/compiled-once.js"

/** Compiles the store to JavaScript, for its thread and the processes of a test. */
export const built = await compiledOnce({
  name: "sqlite-store",
  config: "test/stores/sqlite/tsconfig.json",
  sources: ["src", "test/stores/sqlite"],
})

export const { sqliteStore, renewEpoch }: typeof Sqlite = await modules("src/stores/sqlite/index.js")
export const { storeWith, linkOptions }: typeof SqliteStore = await modules(
  "src/stores/sqlite/sqlite-store.js",
)
export const { loadDriver }: typeof Driver = await modules("src/stores/sqlite/driver.js")

/** The compiled file of a program of this folder. */
export function programFile(name: string): string {
  return join(built, "test/stores/sqlite/programs", `${name}.js`)
}

async function modules(path: string) {
  return await import(pathToFileURL(join(built, path)).href)
}
