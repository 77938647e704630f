import { noFaults, runSeed, type Stage, simulate } from "troupe/sim"
import { expect, test } from "vitest"
import { Inbox } from "./inbox.js"
import { Cluster, reminders } from "./workload.js"

const DAY_MS = 24 * 60 * 60_000

test("a reminder in 24 hours is received even if everything restarts", () =>
  inCluster(async (stage, cluster) => {
    await cluster.on((system) => system.actor(Inbox, "ada").remind("call", Date.now() + DAY_MS, "Ben"))
    await cluster.restartAllAfter(DAY_MS - 60_000)
    const received = () => cluster.on((system) => system.actor(Inbox, "ada").received())
    await stage.sleep(30_000)
    expect(await received()).toEqual(new Map())
    await stage.sleep(60_000)
    expect(await received()).toEqual(new Map([["call", "Ben"]]))
  }))

test("a reminder is not received once it was cancelled, and cannot be cancelled once it was received", () =>
  inCluster(async (stage, cluster) => {
    const cancel = (id: string) => cluster.on((system) => system.actor(Inbox, "ada").cancel(id))
    for (const id of ["early", "late"]) {
      await cluster.on((system) => system.actor(Inbox, "ada").remind(id, Date.now() + 10_000, "Ben"))
    }
    expect(await cancel("early")).toBe(true)
    await stage.sleep(60_000) // the clocks of machines differ
    expect(await cancel("late")).toBe(false)
    const received = await cluster.on((system) => system.actor(Inbox, "ada").received())
    expect([...received.keys()]).toEqual(["late"])
  }))

test("every reminder is received unless it was cancelled, whatever happens to the machines", async () => {
  const { failures, problems } = await simulate(reminders, { seeds: 6 })
  expect({ failures, problems }).toEqual({ failures: [], problems: [] })
})

/** Runs a scenario on three machines, without faults. */
async function inCluster(scenario: (stage: Stage, cluster: Cluster) => Promise<void>): Promise<void> {
  const limits = { virtualMs: 2 * DAY_MS }
  const run = (stage: Stage) => scenario(stage, new Cluster(stage))
  const workload = { name: "inbox", about: "reminders on three machines", limits, run }
  expect((await runSeed(workload, 1, { faults: noFaults() })).failure).toBeUndefined()
}
