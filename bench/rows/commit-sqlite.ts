import { monitorEventLoopDelay } from "node:perf_hooks"
import { latencyOf } from "../quantile.js"
import type { Contender, FreeRow, ThroughputRow, Workload } from "../row.js"
import { CommitLanes, forMs, times } from "../sqlite/commit-lanes.js"
import { directCommits } from "../sqlite/direct-commits.js"
import { Onlooker } from "../sqlite/onlooker.js"
import { rivals } from "../sqlite/rivals.js"
import { openStore, scratchFile } from "../sqlite/scratch-store.js"

const IN_FLIGHT = 64
const STALL_SECONDS = 9

const committing: Contender = {
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const store = await openStore(file)
    const lanes = await CommitLanes.start(store, IN_FLIGHT)
    return {
      run: async (operations) => {
        const tookMs = await lanes.run(times(operations))
        return latencyOf(tookMs.map((ms) => ms * 1_000))
      },
      teardown: async () => {
        await store.close()
        remove()
      },
    }
  },
}

/** Groups of as many: all that are in flight are answered together, and come back together. */
const straightToTheDriver: Contender = {
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const { run, close } = await directCommits(file, IN_FLIGHT)
    return {
      run,
      teardown: () => {
        close()
        remove()
      },
    }
  },
}

/** Commits on a condition, durable before they are answered, 64 in flight. */
export const commitSqlite: ThroughputRow = {
  kind: "throughput",
  name: "commit-sqlite",
  unit: "commits/s",
  bar: { of: "ratio", better: "higher", at: 0.4 },
  ours: committing,
  limit: straightToTheDriver,
}

/** How many times as many commits there are with 64 in flight as with one. */
export const commitSqliteGrouped: FreeRow = {
  kind: "free",
  name: "commit-sqlite-grouped",
  unit: "times",
  bar: { of: "value", better: "higher", at: 2 },
  measure: async (progress) => {
    const { file, remove } = scratchFile()
    const store = await openStore(file)
    const rates: Record<number, number[]> = { 1: [], [IN_FLIGHT]: [] }
    for (let round = 0; round < 3; round += 1) {
      for (const inFlight of [1, IN_FLIGHT]) {
        progress(`${inFlight} in flight, round ${round + 1} of 3`)
        const lanes = await CommitLanes.start(store, inFlight)
        rates[inFlight]?.push((await lanes.run(forMs(1_000))).length)
      }
    }
    await store.close()
    remove()
    return { value: Math.max(...(rates[IN_FLIGHT] ?? [])) / Math.max(...(rates[1] ?? [])) }
  },
}

/**
 * The longest that the event loop stood still in some seconds with 64 commits in flight. SQLite on this
 * thread would stop it for every commit, and longer at checkpoints, of which every second has some. What else
 * the machine does stops it as well; the limit is what an idle thread of this process saw of that in the same
 * seconds.
 */
export const commitSqliteStall: FreeRow = {
  kind: "free",
  name: "commit-sqlite-stall",
  unit: "ms",
  bar: { of: "value", better: "lower", at: 10 },
  measure: async (progress) => {
    const { file, remove } = scratchFile()
    const store = await openStore(file)
    const lanes = await CommitLanes.start(store, IN_FLIGHT)
    const onlooker = new Onlooker()
    progress("warming up")
    await lanes.run(forMs(1_000))
    const oursMs: number[] = []
    const onlookersMs: number[] = []
    for (let second = 1; second <= STALL_SECONDS; second += 1) {
      progress(`second ${second} of ${STALL_SECONDS}`)
      const delay = monitorEventLoopDelay({ resolution: 1 })
      await onlooker.begin()
      delay.enable()
      await lanes.run(forMs(1_000))
      delay.disable()
      oursMs.push(delay.max / 1e6)
      onlookersMs.push(await onlooker.endMs())
    }
    await onlooker.stop()
    await store.close()
    remove()
    return { value: Math.max(...oursMs), limit: Math.max(...onlookersMs) }
  },
}

/** The longest that a commit took in either of two processes that commit as fast as they can. */
export const commitSqliteFairness: FreeRow = {
  kind: "free",
  name: "commit-sqlite-fairness",
  unit: "ms",
  bar: { of: "value", better: "lower", at: 500 },
  measure: async (progress) => {
    const longest: number[] = []
    for (const inFlight of [1, IN_FLIGHT]) {
      progress(`two processes, ${inFlight} in flight in each`)
      for (const { commits, longestMs } of await rivals(5_000, inFlight)) {
        if (commits === 0) throw new Error("a process got nowhere")
        longest.push(longestMs)
      }
    }
    return { value: Math.max(...longest) }
  },
}
