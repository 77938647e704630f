import { describe, expect, test } from "vitest"
import { type CommitOrder, type Life, noFaults, runSeed, type Stage } from "../../src/sim/index.js"
import { type StoreHarness, storeConformance } from "../../src/stores/conformance/index.js"

/** Each store is a new one in the same world, and all handles belong to one process. */
function harnessIn(stage: Stage, life: Life, order: CommitOrder): StoreHarness {
  let made = 0
  return {
    forgetsAfterCommits: KEPT_COMMITS * 2,
    changesEpoch: true,
    create: async () => {
      made += 1
      const store = stage.store(`store-${made}`, { keptCommits: KEPT_COMMITS, order })
      return {
        open: (namespace) => store.provider(life).open(namespace, life.ports),
        dispose: async () => {},
        changeEpoch: async () => store.cutHistory(1),
      }
    },
  }
}

const KEPT_COMMITS = 1_000
const SEEDS = [1, 2]

const cases = storeConformance(harnessIn({} as Stage, {} as Life, "ordered"))

describe.each(["ordered", "concurrent"] as const)("the simulated store, %s", (order) => {
  for (const [index, { name }] of cases.entries()) {
    test(name, async () => {
      for (const seed of SEEDS) {
        const { failure } = await runSeed(
          {
            name: "conformance",
            about: "",
            async run(stage) {
              stage.start("alpha", () => {})
              await stage.on("alpha", (life) => storeConformance(harnessIn(stage, life, order))[index]?.run())
            },
          },
          seed,
          { faults: noFaults() },
        )
        expect(failure, `seed ${seed}`).toBeUndefined()
      }
    })
  }
})
