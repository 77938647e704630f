import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { runSeed, type SeedReport, Tally, type Workload } from "../../src/sim/index.js"
import { endWithReader, showNotRun } from "../../tools/command-line.js"
import { interruption } from "../../tools/interruption.js"
import { ProgressLine } from "../../tools/progress-line.js"
import { workloads } from "../index.js"
import { plantings } from "../planted/plantings.js"
import { type Chosen, help, type ManySeeds, type OneSeed, parseSim } from "./command-line.js"
import { problemsOf, progressText, type RunFacts, reportText } from "./report.js"
import { runInProcesses } from "./run-in-processes.js"
import { serveSeeds } from "./serve-seeds.js"
import { troubled } from "./testing/index.js"

const program = fileURLToPath(new URL("../main.js", import.meta.url))

/** What `npm run sim` does, in a process in which the bug that was asked for is planted already. */
export async function simCommand(args: readonly string[]): Promise<void> {
  endWithReader()
  const command = parseSim(args, {
    cores: availableParallelism(),
    known: (testing) => known(testing).map(({ name }) => name),
    plantings: plantings.map(({ name }) => name),
  })
  switch (command.kind) {
    case "help":
    case "wrong":
      showNotRun("sim", help, command)
      break
    case "list":
      process.stdout.write(list(known(command.testing)))
      break
    case "list plantings":
      process.stdout.write(list(plantings))
      break
    case "serve":
      await serveSeeds(chosen(command))
      break
    case "seed":
      await runOne(command)
      break
    case "run":
      await runMany(command)
      break
  }
}

async function runMany({ seeds, from, jobs, stallMs, ...choice }: ManySeeds): Promise<void> {
  const workload = chosen(choice)
  const tally = new Tally(workload)
  const progress = new ProgressLine(process.stderr, nowMs)
  const startedAtMs = nowMs()
  const showProgress = () => {
    progress.say(workload.name, progressText(tally.report(), seeds, nowMs() - startedAtMs))
  }
  const { signal, exitCode } = interruption()
  showProgress()
  const problems = await runInProcesses({
    program,
    args: ["--serve", ...workloadArgs(choice)],
    seeds: { from, count: seeds },
    jobs,
    stallMs,
    signal,
    onReport: (report) => tally.add(report),
    onTick: showProgress,
  })
  progress.clear()
  conclude(tally, problems, {
    about: workload.about,
    planting: plantings.find(({ name }) => name === choice.plant),
    from,
    asked: seeds,
    elapsedMs: nowMs() - startedAtMs,
    interrupted: signal.aborted,
    replay: replayOf(choice),
  })
  process.exitCode = exitCode() ?? process.exitCode
}

/** There is no watch for hung seeds here: a breakpoint would look like one. */
async function runOne({ seed, trace, ...choice }: OneSeed): Promise<void> {
  const workload = chosen(choice)
  const tally = new Tally(workload)
  const startedAtMs = nowMs()
  const onTrace = (line: string) => void process.stdout.write(`${line}\n`)
  const report: SeedReport = await runSeed(workload, seed, trace ? { onTrace } : {})
  tally.add(trace ? { ...report, tail: [] } : report)
  conclude(tally, [], {
    about: workload.about,
    planting: plantings.find(({ name }) => name === choice.plant),
    from: seed,
    asked: 1,
    elapsedMs: nowMs() - startedAtMs,
    interrupted: false,
    replay: replayOf(choice),
  })
}

function conclude(tally: Tally, problems: readonly string[], facts: RunFacts): void {
  const counted = tally.report()
  const report = { ...counted, problems: [...problems, ...counted.problems] }
  process.stdout.write(reportText(report, facts))
  if (report.failures.length + problemsOf(report, facts).length > 0) process.exitCode = 1
}

function known(testing: boolean): readonly Workload[] {
  return testing ? [...workloads, ...troubled] : workloads
}

function chosen({ workload: name, testing }: Chosen): Workload {
  const workload = known(testing).find((one) => one.name === name)
  if (workload === undefined) throw new Error(`no workload is named ${name}`)
  return workload
}

function workloadArgs({ workload, testing, plant }: Chosen): readonly string[] {
  const planted = plant === undefined ? [] : ["--plant", plant]
  return ["--workload", workload, ...(testing ? ["--testing"] : []), ...planted]
}

function replayOf(choice: Chosen): (seed: number) => string {
  return (seed) => `npm run sim -- ${workloadArgs(choice).join(" ")} --seed ${seed} --trace`
}

function list(shown: readonly { readonly name: string; readonly about: string }[]): string {
  const width = Math.max(...shown.map(({ name }) => name.length))
  return shown.map(({ name, about }) => `${name.padEnd(width)}  ${about}\n`).join("")
}

function nowMs(): number {
  return performance.now()
}
