import { execFile } from "node:child_process"
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { built } from "./built-store.js"
import { scratch } from "./scratch.js"

const { path } = scratch()

it("names the command that installs SQLite where neither Node nor the project has it", async () => {
  const folder = path("project")
  // Outside of this project, so that its packages are not found.
  cpSync(join(built, "src"), join(folder, "src"), { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(
    join(folder, "open.js"),
    `import { nodePorts } from "./src/runtime/node-ports.js"
import { sqliteStore } from "./src/stores/sqlite/index.js"
const opened = sqliteStore({ file: "store.db" }).open("test", nodePorts())
console.log(await opened.then((store) => store.close().then(() => "opened"), ({ problem, message }) => problem + ": " + message))`,
  )
  const { stdout } = await promisify(execFile)(process.execPath, ["open.js"], { cwd: folder })
  const hasSqlite = process.getBuiltinModule("node:sqlite") !== undefined
  expect(stdout).toMatch(
    hasSqlite
      ? /^opened$/m
      : /^unsuitable: SQLite is not available .*; use Node 22\.13 or later, or run "npm install libsql@0\.5"$/m,
  )
})
