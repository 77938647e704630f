import type { Step } from "../../demo/call-history.js"
import type { Figures, ShownNode } from "../../demo/figures.js"
import { Latencies } from "../../tools/latencies.js"

/** Figures for the tests of what shows them: fourteen seconds, two kills, and an audit after the first. */
export const figures: Figures = {
  options: { store: "sqlite", seconds: 30, nodes: 3, accounts: 60, tellers: 16, seed: 1, deathProof: true },
  elapsedMs: 12_345,
  phase: { kind: "killed", node: "n2" },
  pressed: undefined,
  nodes: [
    node({ name: "n1", pid: 4_711, state: "up" }, 37, 0),
    node({ name: "n2", pid: undefined, state: "killed" }, 0, 1),
    node({ name: "n3", pid: 4_720, state: "up" }, 0, 1),
  ],
  bank: { transfers: 5_000, retries: { transfers: 1, statements: 3 }, total: 60_000 },
  calls: { latencies: latencies(3.2, 3.2, 1_520), perSecond: 3_456.7 },
  history: Array.from({ length: 140 }, (_, index) => step(index)),
  failovers: latencies(120, 120, 120, 1_702),
  away: 23,
  sum: 60_000,
  audits: 1,
  link: undefined,
  events: [
    "   0.0 s  starting 3 nodes (seed 1)",
    "   1.4 s  n1 was paused with SIGSTOP, and 20 actors with it",
    "   6.6 s  its actors are back: the first after 5.12 s, the last after 5.19 s",
    "   6.6 s  n1 runs again; its old activations can no longer save or reply",
    "   6.9 s  audited: all 60 accounts are right",
    "   7.5 s  n3 (process 4713) was killed, and 20 actors with it",
    "   7.6 s  its actors are back: the first after 38 ms, the last after 46 ms",
    "   8.4 s  n3 is a member again (process 4720); actors stay where they are",
    "  11.8 s  n2 (process 4712) was killed, and 23 actors with it",
  ],
}

export function latencies(...times: readonly number[]): Latencies {
  const made = new Latencies()
  for (const ms of times) made.add(ms)
  return made
}

export function node(process: ShownNode["process"], actors: number, kills: number): ShownNode {
  return { process, hosted: new Map(Array.from({ length: actors }, (_, index) => [`${index}`, 1])), kills }
}

function step(index: number): Step {
  const usual = 3_300 + 200 * Math.sin(index)
  if (index === 91) return { callsPerSecond: 0.3 * usual, mark: "k" }
  if (index === 100) return { callsPerSecond: 0.7 * usual, mark: "a" }
  if (index === 134) return { callsPerSecond: 0.5 * usual, mark: "k" }
  return { callsPerSecond: index === 92 ? 0 : usual, mark: undefined }
}
