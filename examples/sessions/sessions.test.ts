import { ActorSystem, withOptions } from "troupe"
import { type Life, noFaults, runSeed, type Stage, startSystem } from "troupe/sim"
import { describe, expect, test } from "vitest"
import { RateLimiter } from "./rate-limiter.js"
import { SAVE_EVERY_MS, SESSION_MS, Sessions } from "./sessions.js"

describe("sessions in memory", () => {
  test("have their values until they are closed", async () => {
    const system = await ActorSystem.start({ namespace: "site", actors: [Sessions] })
    const ada = system.actor(Sessions, "ada")
    const phone = await ada.open()
    const laptop = await ada.open()
    expect(await ada.set(phone, "theme", "dark")).toBe(true)
    const again = withOptions(ada, { operation: "a request" })
    expect(await again.open(), "the same request").toBe(await again.open())
    expect(await ada.use(phone)).toEqual(new Map([["theme", "dark"]]))
    expect(await ada.use(laptop)).toEqual(new Map())

    await ada.close(phone)
    expect(await ada.use(phone)).toBeUndefined()
    expect(await ada.set(phone, "theme", "light")).toBe(false)
    expect(await ada.use(laptop)).toEqual(new Map())
    await ada.closeAll()
    expect(await ada.use(laptop)).toBeUndefined()
    await system.stop()
  })
})

// Hours of virtual time take milliseconds.
describe("in a simulated world", () => {
  test("a session lasts as long as it is used, and expires when it is not", () =>
    inWorld(async (stage, site) => {
      const token = await site((system) => system.actor(Sessions, "ada").open())
      const use = () => site((system) => system.actor(Sessions, "ada").use(token))
      for (let round = 0; round < 3; round += 1) {
        await stage.sleep(SESSION_MS - 60_000)
        expect(await use()).toEqual(new Map())
      }
      await stage.sleep(SESSION_MS)
      expect(await use()).toBeUndefined()
    }))

  test("a session outlives its process, and what it was used for is saved within seconds", () =>
    inWorld(async (stage, site) => {
      const token = await site((system) => system.actor(Sessions, "ada").open())
      const use = () => site((system) => system.actor(Sessions, "ada").use(token))
      await stage.sleep(SESSION_MS - 60_000)
      await use()
      await stage.sleep(2 * SAVE_EVERY_MS)
      stage.crash("host")
      stage.boot("host")
      await stage.sleep(SESSION_MS - 60_000)
      expect(await use()).toEqual(new Map())
    }))

  test("a limiter allows a burst, then as many calls as it refills", () =>
    inWorld(async (stage, site) => {
      const take = () => site((system) => system.actor(RateLimiter, "login/ada").take())
      for (let call = 0; call < 10; call += 1) expect((await take()).isAllowed).toBe(true)
      const refused = await take()
      expect(refused.isAllowed).toBe(false)
      await stage.sleep(refused.retryAfterMs)
      expect((await take()).isAllowed).toBe(true)
      expect((await take()).isAllowed).toBe(false)

      const other = await site((system) => system.actor(RateLimiter, "login/ben").take())
      expect(other.isAllowed, "a key of its own").toBe(true)
      const written = stage
        .store()
        .list()
        .entries.filter(({ key }) => key.includes("login"))
      expect(written, "nothing is written").toEqual([])
    }))

  test("a limiter that ended because it was idle is as full as it would have been", () =>
    inWorld(async (stage, site) => {
      const take = () => site((system) => system.actor(RateLimiter, "login/ada").take())
      const allowed = async () => {
        let count = 0
        while ((await take()).isAllowed) count += 1
        return count
      }
      expect(await allowed()).toBe(10)
      await stage.sleep(10 * 60_000)
      expect(await allowed()).toBe(10)
    }))
})

type Site = <T>(task: (system: ActorSystem) => Promise<T>) => Promise<T>

/** Runs a scenario on one machine with a store, without faults. */
async function inWorld(scenario: (stage: Stage, site: Site) => Promise<void>): Promise<void> {
  const run = async (stage: Stage) => {
    const store = stage.store()
    let system: Promise<ActorSystem>
    const start = (life: Life) =>
      startSystem(life, {
        namespace: "site",
        store: store.provider(life),
        actors: [Sessions, RateLimiter],
        lease: { ttlMs: 60_000 }, // renewals are most of the work in hours without calls
      })
    stage.start("host", (life) => {
      system = start(life)
    })
    await scenario(stage, (task) => stage.on("host", async () => task(await system)))
  }
  const limits = { virtualMs: 24 * 60 * 60_000 }
  const workload = { name: "sessions", about: "sessions and limiters on one machine", limits, run }
  const { failure } = await runSeed(workload, 1, { faults: noFaults() })
  expect(failure).toBeUndefined()
}
