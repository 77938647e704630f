import { describe, test } from "vitest"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { type StoreHarness, storeConformance } from "../../src/stores/conformance/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"

const harness: StoreHarness = {
  create: async () => {
    const provider = memoryStore()
    return { open: (namespace) => provider.open(namespace, nodePorts()), dispose: async () => {} }
  },
  forgetsAfterCommits: 20_000,
}

describe("the store in memory", () => {
  for (const { name, run } of storeConformance(harness)) test(name, run)
})
