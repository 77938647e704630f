/** Requires every entry point, and prints how often it was run on the file that it is given. */
const COUNTER = `const { Actor, ActorSystem, consoleLogger } = require("troupe")
const { sqliteStore } = require("troupe/sqlite")
require("troupe/sim")
require("troupe/store-conformance")

class Counter extends Actor {
  static type = "Counter"
  initialState() {
    return 0
  }
  async next() {
    this.state += 1
    await this.save()
    return this.state
  }
}

async function main() {
  const system = await ActorSystem.start({
    namespace: "counter",
    actors: [Counter],
    store: sqliteStore({ file: process.argv[2] }),
    logger: consoleLogger({ level: "error" }),
  })
  console.log("run " + (await system.actor(Counter, "runs").next()))
  await system.stop()
}

main()
`

/** For the processes of the suite, and for the suite itself. */
const PROVIDER = `
import { sqliteStore } from "troupe/sqlite"

export const provider = (file) => sqliteStore({ file, keptLogBytes: 65_536, timeoutMs: 30_000 })
`

/** Checks every rule of stores on the SQLite store, also with other processes. */
const STORE_RULES = `
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { renewEpoch } from "troupe/sqlite"
import { storeConformance } from "troupe/store-conformance"
import { nodePorts } from "./node_modules/troupe/dist/runtime/node-ports.js"
import { provider } from "./provider.js"

const harness = {
  module: new URL("./provider.js", import.meta.url).href,
  forgetsAfterCommits: 2_000,
  changesEpoch: true,
  create: async () => {
    const folder = mkdtempSync(join(tmpdir(), "troupe-rules-"))
    const file = join(folder, "store.db")
    return {
      argument: file,
      open: (namespace) => provider(file).open(namespace, nodePorts()),
      changeEpoch: () => renewEpoch({ file }),
      dispose: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}

const failures = []
const rules = storeConformance(harness)
for (const { name, run } of rules) await run().catch((error) => failures.push(name + ": " + error.stack))
console.log(rules.length - failures.length + " of " + rules.length + " rules hold")
for (const failure of failures) console.log(failure)
process.exit(failures.length === 0 ? 0 : 1)
`

/** Programs of the consumer, by file name. */
export const programs: Readonly<Record<string, string>> = {
  "counter.cjs": COUNTER,
  "provider.js": PROVIDER,
  "store-rules.js": STORE_RULES,
}
