import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { checkLinearizable, register } from "../../src/sim/index.js"
import type { StoreHarness } from "../../src/stores/conformance/index.js"
import { builtSuite } from "./conformance-build.js"

const { suite, urlOf } = await builtSuite("tsconfig.conformance-sqlite.json", "conformance-sqlite")
const module = urlOf("test/stores/conformance-sqlite-provider.js")
const { provider, renewEpoch }: typeof import("./conformance-sqlite-provider.js") = await import(module)

const harness: StoreHarness = {
  module,
  forgetsAfterCommits: 20_000,
  changesEpoch: true,
  create: async () => {
    const folder = await mkdtemp(join(tmpdir(), "troupe-conformance-"))
    const file = join(folder, "store.db")
    return {
      argument: file,
      open: (namespace) => provider(file).open(namespace, nodePorts()),
      changeEpoch: async () => {
        await renewEpoch({ file })
      },
      dispose: () => rm(folder, { recursive: true, force: true }),
    }
  },
}

describe("the SQLite store", () => {
  for (const { name, run } of suite.storeConformance(harness)) test(name, run)
})

test("the history of four processes on a SQLite file, some of which were killed, is linearizable", async () => {
  const runs = Number(process.env["STORE_HISTORIES"] ?? 3)
  let kills = 0
  for await (const history of suite.recordHistories(harness, { runs })) {
    const verdict = checkLinearizable(history, register())
    expect(verdict.kind === "violation" ? verdict.explanation.join("\n") : verdict.kind).toBe("linearizable")
    expect(history.operations.length).toBeGreaterThan(150)
    kills += history.kills
  }
  expect(kills).toBeGreaterThan(0)
}, 1_800_000)
