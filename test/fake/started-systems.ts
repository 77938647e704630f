import { afterEach } from "vitest"
import { startTestSystem, type TestSystem } from "./test-system.js"

/** Starts systems for the tests of a file, and stops each after its test. */
export function startedSystems(): typeof startTestSystem {
  const started: TestSystem[] = []
  afterEach(async () => {
    for (const { system, clock } of started.splice(0)) {
      const stopped = system.stop()
      await clock.advance(20_000)
      await stopped
    }
  })
  return async (settings) => {
    const world = await startTestSystem(settings)
    started.push(world)
    return world
  }
}
