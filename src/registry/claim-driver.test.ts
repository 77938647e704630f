import { expect, test } from "vitest"
import { Scene, type Way } from "../../test/registry/scene.js"
import { ClaimDriver } from "./claim-driver.js"
import type { Incarnation } from "./incarnation.js"

const KEY = "shards/g/0"

test("a claim of what nobody has spends no generation", async () => {
  const { driver } = await claimer()
  expect(await driver.claim(undefined)).toMatchObject({ kind: "claimed" })
  expect(driver.spent).toBe(0)
})

test("a claim that finds this node's own name, and is sent on that, spends the generation", async () => {
  const { scene, driver, way } = await claimer()
  // The first commit is made. The second one is conditioned on what the first one wrote, and hangs.
  way.strike("lose-answer", "arrive-late", "refuse")
  expect(await driver.claim(undefined)).toEqual({ kind: "unavailable" })
  const found = await scene.entry(KEY)
  expect(driver.spent).toBe(found?.revision)
  // It comes after all, and makes a later generation: whoever had adopted the former would run beside it.
  await way.store.release()
  expect((await scene.entry(KEY))?.revision).toBeGreaterThan(driver.spent)
})

async function claimer(): Promise<{ scene: Scene; driver: ClaimDriver; way: Way }> {
  const scene = new Scene()
  const { registry, way } = await scene.member()
  const driver = new ClaimDriver({ key: KEY }, registry.incarnation as Incarnation, way.store)
  return { scene, driver, way }
}
