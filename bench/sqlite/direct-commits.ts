import { keyOf, VALUE_BYTES } from "./commit-lanes.js"
import { DirectDriver } from "./direct-driver.js"

export interface DirectCommits {
  run(operations: number): void
  close(): void
}

/** Commits on one condition, in groups of that size. */
export async function directCommits(file: string, groupSize: number): Promise<DirectCommits> {
  const driver = await DirectDriver.open(file)
  const value = new Uint8Array(VALUE_BYTES).fill(7)
  const keys = Array.from({ length: groupSize }, (_, lane) => `bench/${keyOf(lane)}`)
  const conditions = keys.map((key) => [key])
  const commitGroup = (size: number) =>
    driver.group(() => {
      for (let lane = 0; lane < size; lane += 1) {
        driver.commit(conditions[lane] as string[], keys[lane] as string, value)
      }
    })
  return {
    run: (operations) => {
      for (let left = operations; left > 0; left -= groupSize) commitGroup(Math.min(left, groupSize))
    },
    close: () => driver.close(),
  }
}
