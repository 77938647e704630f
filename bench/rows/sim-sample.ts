import { noFaults, runSeed, type SeedReport, type Workload } from "../../src/sim/index.js"

export interface SimSample {
  readonly report: SeedReport
  readonly elapsedMs: number
}

/**
 * Runs a workload once, without faults, and throws where it fails: a world that broke off early would seem
 * fast.
 */
export async function sampleWorld(workload: Workload): Promise<SimSample> {
  globalThis.gc?.()
  const startedAt = performance.now()
  const report = await runSeed(workload, 1, { faults: noFaults() })
  const elapsedMs = performance.now() - startedAt
  const { failure } = report
  if (failure !== undefined) throw new Error(`${workload.name}: ${failure.what}: ${failure.detail}`)
  return { report, elapsedMs }
}
