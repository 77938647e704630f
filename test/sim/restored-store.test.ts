import { expect, test } from "vitest"
import { noFaults, runSeed, type SeedOptions, type SimStore, type Stage } from "../../src/sim/index.js"

/** Commits three times, and fails after `play`. */
async function detailAfter(
  play: (store: SimStore, stage: Stage) => void | Promise<void>,
  options: SeedOptions = { faults: noFaults() },
) {
  const run = async (stage: Stage) => {
    const shared = stage.store("ledger")
    stage.start("alpha", () => {})
    await stage.on("alpha", async (life) => {
      const store = await shared.provider(life).open("test", life.ports)
      for (const key of ["a", "b", "c"]) {
        const { epoch } = await store.get(key)
        const value = new Uint8Array(1)
        await store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value }] })
      }
    })
    await play(shared, stage)
    stage.always("it holds", false)
  }
  return (await runSeed({ name: "restored", about: "", run }, 1, options)).failure?.detail
}

test("a failure after a store was restored says when, and what was lost", async () => {
  const detail = await detailAfter(async (store, stage) => {
    await stage.sleep(1_000 - stage.nowMs)
    store.cutHistory(2)
  })
  expect(detail).toBe(
    'it holds\nnote: at 1000 ms the store "ledger" was restored to an earlier state (store-epoch) and lost its last 2 commits; acknowledged writes were lost with it',
  )
})

test("of several restorations the last is described", async () => {
  const detail = await detailAfter((store) => {
    for (const commits of [1, 0, 5]) store.cutHistory(commits)
  })
  expect(detail).toContain("lost its last 2 commits, after 1 earlier restoration; acknowledged")
})

test("the fault of a plan is named too", async () => {
  const faults = { ...noFaults(), "store-epoch": 1 }
  expect(await detailAfter((_store, stage) => stage.sleep(300_000), { faults })).toMatch(
    /^it holds\nnote: at \d+(\.\d+)? ms the store "ledger" was restored/,
  )
})

test("a new epoch that loses nothing is not named", async () => {
  expect(await detailAfter((store) => store.cutHistory(0))).toBe("it holds")
  expect(await detailAfter(() => {})).toBe("it holds")
})
