import { type FailedSeed, faultKinds, type SimulationReport } from "../../src/sim/index.js"
import { human } from "../../tools/human-number.js"
import type { Planting } from "../planted/planting.js"

/** What a report does not know of the run that it came from. */
export interface RunFacts {
  readonly about: string
  /** The bug that is planted in what was run. */
  readonly planting: Planting | undefined
  /** The first seed, and how many were asked for. */
  readonly from: number
  readonly asked: number
  readonly elapsedMs: number
  readonly interrupted: boolean
  /** The command that replays a seed. */
  readonly replay: (seed: number) => string
}

const shownInFull = 5
const shownSeedsOfAKind = 50
const shownEvents = 25

/** The whole text: what was done, what it covered, and what went wrong. */
export function reportText(report: SimulationReport, facts: RunFacts): string {
  const failures = report.failures.toSorted((a, b) => a.seed - b.seed)
  const problems = problemsOf(report, facts)
  const parts = [
    summary(report, facts),
    counts("faults", inOrderOfKinds(report.faults)),
    counts("sometimes, how often each was reached", byName(report.sometimes)),
    counts("always, how often each was asserted", byName(report.always)),
    counts("invariants, how often each was evaluated", [...report.invariants]),
    problems.length === 0 ? "" : `problems\n${indented(problems)}`,
    ...failures.slice(0, shownInFull).map((failed) => failureText(failed, facts)),
    others(failures.slice(shownInFull)),
    closingLine(report, facts),
  ]
  return parts.filter((part) => part !== "").join("\n")
}

/** A run that was cut short is not asked to have reached everything. */
export function problemsOf(report: SimulationReport, facts: RunFacts): readonly string[] {
  return facts.interrupted ? [] : report.problems
}

/** How far a run is, in one line. */
export function progressText(report: SimulationReport, asked: number, elapsedMs: number): string {
  const { seeds, failures, virtualMs } = report
  const failed = failures.length === 0 ? "none" : grouped(failures.length)
  return `${grouped(seeds)} of ${grouped(asked)} seeds, ${perSecond(seeds, elapsedMs)}/s, ${failed} failed, ${duration(virtualMs)} simulated`
}

export function duration(ms: number): string {
  for (const [unit, size] of units) {
    if (ms >= size) return `${(ms / size).toFixed(1)} ${unit}`
  }
  return `${Math.round(ms)} ms`
}

const units = [
  ["days", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const

function summary(report: SimulationReport, facts: RunFacts): string {
  const { elapsedMs, from, asked, planting } = facts
  const range = asked === 1 ? `seed ${from}` : `${from} to ${from + asked - 1}`
  const done = report.seeds === asked ? grouped(asked) : `${grouped(report.seeds)} of ${grouped(asked)}`
  const faster = elapsedMs > 0 ? human(report.virtualMs / elapsedMs) : "0"
  const planted = planting && `${planting.name}, ${planting.about} (${planting.file})`
  return lined([
    ["workload", `${report.workload}, ${facts.about}`],
    ...(planted === undefined ? [] : [["planted", planted] as const]),
    ["seeds", `${done} (${range})`],
    ["took", `${duration(elapsedMs)}, ${perSecond(report.seeds, elapsedMs)} seeds/s`],
    ["steps", grouped(report.steps)],
    ["simulated", `${duration(report.virtualMs)}, ${faster} times as fast as real time`],
    ["operations", grouped(report.operations)],
    ["failures", grouped(report.failures.length)],
  ])
}

function counts(heading: string, entries: readonly (readonly [string, number])[]): string {
  if (entries.length === 0) return `${heading}\n  none\n`
  const numbers = entries.map(([, count]) => grouped(count))
  const width = Math.max(...numbers.map((text) => text.length), "never".length)
  const lines = entries.map(
    ([name, count], at) => `${(count === 0 ? "never" : (numbers[at] ?? "")).padStart(width)}  ${name}`,
  )
  return `${heading}\n${indented(lines)}`
}

function failureText({ seed, failure, tail }: FailedSeed, { replay }: RunFacts): string {
  const { what, detail, at } = failure
  // The message of an assertion begins with its name.
  const more = detail.startsWith(`${what}: `) ? detail.slice(what.length + 2) : detail
  const lines = more === what ? [] : more.split("\n")
  if (at !== undefined) lines.push(`at ${at}`)
  const events = tail.slice(-shownEvents)
  if (events.length > 0) lines.push("the last events:", ...events.map((event) => `  ${event}`))
  return `seed ${seed} failed: ${what}\n${indented([...lines, `replay: ${replay(seed)}`])}`
}

function others(failures: readonly FailedSeed[]): string {
  if (failures.length === 0) return ""
  const seedsOf = new Map<string, number[]>()
  for (const { seed, failure } of failures) {
    const seeds = seedsOf.get(failure.what) ?? []
    seedsOf.set(failure.what, seeds)
    seeds.push(seed)
  }
  const lines = [...seedsOf].map(([what, seeds]) => {
    const unnamed = seeds.length - shownSeedsOfAKind
    const more = unnamed > 0 ? ` and ${grouped(unnamed)} more` : ""
    return `${what}: ${seeds.slice(0, shownSeedsOfAKind).join(", ")}${more}`
  })
  return `${grouped(failures.length)} more failed\n${indented(lines)}`
}

function closingLine(report: SimulationReport, facts: RunFacts): string {
  const { seeds, failures } = report
  const problems = problemsOf(report, facts).length
  const verdict = [
    failures.length > 0 ? `${grouped(failures.length)} of ${counted(seeds, "seed")} failed` : "",
    problems > 0 ? counted(problems, "problem") : "",
  ].filter((part) => part !== "")
  if (verdict.length === 0) verdict.push(`${counted(seeds, "seed")} held`)
  return `${facts.interrupted ? "interrupted: " : ""}${verdict.join(", ")}\n`
}

function inOrderOfKinds(faults: SimulationReport["faults"]): readonly (readonly [string, number])[] {
  return faultKinds.flatMap((kind) => {
    const count = faults.get(kind)
    return count === undefined ? [] : [[kind, count] as const]
  })
}

function byName(found: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}

function lined(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("")
}

function indented(lines: readonly string[]): string {
  return lines
    .flatMap((line) => line.split("\n"))
    .map((line) => `  ${line}\n`)
    .join("")
}

function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? "" : "s"}`
}

function grouped(count: number): string {
  return count.toLocaleString("en-US")
}

function perSecond(count: number, elapsedMs: number): string {
  return elapsedMs > 0 ? human((count * 1000) / elapsedMs) : "0"
}
