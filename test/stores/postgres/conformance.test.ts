import { describe, test } from "vitest"
import { nodePorts } from "../../../src/runtime/node-ports.js"
import type { StoreHarness } from "../../../src/stores/conformance/index.js"
import { builtSuite } from "../conformance-build.js"

const { suite, urlOf } = await builtSuite("postgres/tsconfig.json", "conformance-postgres")
const module = urlOf("test/stores/postgres/provider.js")
const { provider, renewEpoch, optionsOf }: typeof import("./provider.js") = await import(module)

let made = 0
const harness: StoreHarness = {
  module,
  forgetsAfterCommits: 5_000,
  changesEpoch: true,
  create: async () => {
    made += 1
    const schema = `s${process.pid}_${made}`
    const argument = JSON.stringify({
      url: `postgres://postgres@127.0.0.1:${process.env["PGP"] ?? 55418}/postgres`,
      schema,
    })
    return {
      argument,
      open: (namespace) => provider(argument).open(namespace, nodePorts()),
      changeEpoch: async () => {
        await renewEpoch(optionsOf(argument))
      },
      dispose: async () => {},
    }
  },
}

describe("the PostgreSQL store", () => {
  for (const { name, run } of suite.storeConformance(harness)) test(name, run)
})
