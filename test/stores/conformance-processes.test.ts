import { describe, expect, test } from "vitest"
import { checkLinearizable, register } from "../../src/sim/index.js"
import type { StoreHarness } from "../../src/stores/conformance/index.js"
import { StoreState } from "../../src/stores/store-state.js"
import { builtSuite } from "./conformance-build.js"
import { provider, serve } from "./conformance-served-store.js"

const { suite, urlOf } = await builtSuite("tsconfig.conformance.json", "conformance")

let made = 0

const harness: StoreHarness = {
  module: urlOf("test/stores/conformance-served-store.js"),
  forgetsAfterCommits: 2_000,
  changesEpoch: true,
  create: async () => {
    made += 1
    let epochs = 1
    const state = new StoreState(`served-${made}`, "1", { commits: 1_000, undo: true })
    const server = await serve(state)
    return {
      argument: server.argument,
      open: (namespace) => provider(server.argument).open(namespace, {} as never),
      changeEpoch: async () => {
        epochs += 1
        state.rewind(Math.min(1, state.knownCommits), `${epochs}`)
        server.changed()
      },
      dispose: () => server.close(),
    }
  },
}

describe("a store that is served to other processes", () => {
  for (const { name, run } of suite.storeConformance(harness)) test(name, run)
})

test("the history of four processes, some of which were killed, is linearizable", async () => {
  const runs = Number(process.env["STORE_HISTORIES"] ?? 2)
  let [kills, unknown] = [0, 0]
  for await (const history of suite.recordHistories(harness, { runs })) {
    const verdict = checkLinearizable(history, register())
    expect(verdict.kind === "violation" ? verdict.explanation.join("\n") : verdict.kind).toBe("linearizable")
    expect(history.operations.length).toBeGreaterThan(150)
    kills += history.kills
    unknown += history.operations.filter(({ outcome }) => outcome.kind === "unknown").length
  }
  expect(kills).toBeGreaterThan(0)
  expect(unknown).toBeLessThanOrEqual(kills)
}, 600_000)
