import { expect, test } from "vitest"
import { noFaults, runSeed, type Stage, startSystem } from "../../src/sim/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../src/system/settings.js"

const SEEDS = 20
const TTL_MS = 1_000
const STORE_TIMEOUT_MS = 500

/** What a store does to the requests of a node that starts. */
const faults = {
  ...noFaults(),
  "store-refusal": 1,
  "store-delay": 1,
  "store-hang": 1,
  "store-lost-request": 1,
  "store-lost-answer": 1,
  "store-late-arrival": 1,
  "store-cut": 1,
  "pause-in-call": 0.5,
}

test("a start that is aborted at any moment leaves no node in the cluster, whatever the store does", async () => {
  const outcomes = { aborted: 0, started: 0, gaveUp: 0 }
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const run = async (stage: Stage) => {
      let other: ActorSystem | undefined
      stage.start("other", async (life) => {
        other = await startSystem(life, { ...settingsOf(stage, life), joinMs: 60_000 })
      })
      stage.start("starting", () => {})
      for (let round = 0; round < 5; round += 1) {
        outcomes[await startAndAbort(stage)] += 1
      }
      stage.calm()
      // Requests that were held back have arrived by then, and leases that nobody renews were ended.
      await stage.sleep(30_000)
      const members = await stage.on("other", () => other?.health().members)
      stage.always("only the other node is left", members === 1, () => `${members} members`)
      const left = stage
        .store()
        .list()
        .entries.map(({ key }) => key)
      const nodes = left.filter((key) => key.includes("/nodes/"))
      stage.always("one record is left", nodes.length === 1, () => left.join())
    }
    const { failure, tail } = await runSeed({ name: "start-aborted", about: "", run }, seed, { faults })
    expect(failure?.detail, `seed ${seed}\n${tail.join("\n")}`).toBeUndefined()
  }
  // Each way was taken, so none of them is untested.
  for (const [outcome, times] of Object.entries(outcomes))
    expect(times, outcome).toBeGreaterThanOrEqual(SEEDS / 10)
})

/** Starts a node, aborts it after a while, and stops it if it was faster. */
function startAndAbort(stage: Stage): Promise<"aborted" | "started" | "gaveUp"> {
  const afterMs = stage.random.between(0, stage.random.pick([10, 100, 1_500]))
  return stage.on("starting", async (life) => {
    const aborting = new AbortController()
    const timer = life.ports.clock.setTimer(afterMs, () => aborting.abort("told to stop"))
    const settings = { ...settingsOf(stage, life), joinMs: 1_000 }
    const starting = ActorSystem.start(settings, life.ports, { signal: aborting.signal })
    const system = await starting.catch((error: unknown) => error)
    timer.cancel()
    if (system === "told to stop") return "aborted"
    if (!(system instanceof ActorSystem)) {
      expect(system).toMatchObject({ code: "StoreUnavailable" })
      return "gaveUp"
    }
    await system.stop()
    return "started"
  })
}

function settingsOf(stage: Stage, life: Parameters<typeof startSystem>[0]): ActorSystemSettings {
  return {
    namespace: "sim",
    listen: { host: life.host, port: 7_000, secret: "known to all the nodes" },
    store: stage.store().provider(life, { timeoutMs: STORE_TIMEOUT_MS }),
    lease: { ttlMs: TTL_MS, deathProof: false },
  }
}
