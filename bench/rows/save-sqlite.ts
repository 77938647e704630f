import { placementKey, stateKey } from "../../src/registry/registry-keys.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { STORED_BYTES, saving } from "../saving.js"
import { DirectDriver } from "../sqlite/direct-driver.js"
import { actorId, ScratchRegistry } from "../sqlite/scratch-registry.js"
import { scratchFile } from "../sqlite/scratch-store.js"

const IN_FLIGHT = 64

/** States on the conditions of the placement and of the last one, in groups. */
const straightToTheDriver: Contender = {
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const driver = await DirectDriver.open(file)
    const value = new Uint8Array(STORED_BYTES).fill(7)
    const actors = Array.from({ length: IN_FLIGHT }, (_, lane) => {
      const state = `bench/${stateKey(actorId(lane))}`
      return { state, conditions: [`bench/${placementKey(actorId(lane))}`, state] }
    })
    driver.group(() => {
      for (const { conditions } of actors) for (const key of conditions) driver.commit([], key, value)
    })
    const saveGroup = (size: number) =>
      driver.group(() => {
        for (const { conditions, state } of actors.slice(0, size)) driver.commit(conditions, state, value)
      })
    return {
      run: (operations) => {
        for (let left = operations; left > 0; left -= IN_FLIGHT) saveGroup(Math.min(left, IN_FLIGHT))
      },
      teardown: () => {
        driver.close()
        remove()
      },
    }
  },
}

/** An actor saves its state; 64 actors, each with a save in flight. */
export const saveSqlite: ThroughputRow = {
  kind: "throughput",
  name: "save-sqlite",
  unit: "saves/s",
  bar: { of: "ratio", better: "higher", at: 0.4 },
  ours: saving(IN_FLIGHT, () => ScratchRegistry.start()),
  limit: straightToTheDriver,
}
