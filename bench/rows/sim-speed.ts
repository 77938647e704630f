import type { Life, Workload } from "../../src/sim/index.js"
import { rounds } from "../measure.js"
import { median } from "../quantile.js"
import type { FreeRow } from "../row.js"
import { sampleWorld } from "./sim-sample.js"

const VIRTUAL_SECONDS = 100_000
const MACHINES = ["alpha", "beta", "gamma"]

/**
 * How much faster than real time a quiet cluster goes by: three machines, each with a timer that fires every
 * second.
 */
export const simSpeed: FreeRow = {
  kind: "free",
  name: "sim-speed",
  unit: "x real time",
  bar: { of: "value", better: "higher", at: 10_000 },
  async measure(progress) {
    progress("warming up")
    await sampleWorld(quiet)
    const speeds: number[] = []
    for (let round = 1; round <= rounds; round += 1) {
      progress(`round ${round} of ${rounds}`)
      const { report, elapsedMs } = await sampleWorld(quiet)
      const ticks = MACHINES.length * VIRTUAL_SECONDS
      if (report.operations < ticks * 0.999)
        throw new Error(`${report.operations} ticks in place of ${ticks}`)
      speeds.push(report.virtualMs / elapsedMs)
    }
    return { value: median(speeds) }
  },
}

const quiet: Workload = {
  name: "quiet",
  about: "machines with a timer each",
  limits: { virtualMs: VIRTUAL_SECONDS * 1_000 + 1 },
  async run(stage) {
    const tick = ({ ports: { clock } }: Life) => {
      const again = () => {
        stage.operation()
        clock.setTimer(1_000, again)
      }
      clock.setTimer(1_000, again)
    }
    for (const name of MACHINES) stage.start(name, tick)
    await stage.sleep(VIRTUAL_SECONDS * 1_000)
  },
}
