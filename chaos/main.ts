import { randomInt } from "node:crypto"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../tools/cluster/temporary-folder.js"
import { showNotRun } from "../tools/command-line.js"
import { programsOf } from "../tools/engines/engines.js"
import { runOrExplain } from "../tools/engines/run-or-explain.js"
import { interruption } from "../tools/interruption.js"
import { ProgressLine } from "../tools/progress-line.js"
import { Chaos } from "./chaos.js"
import { type ChaosOptions, help, parseChaos } from "./command-line.js"
import { isInNamespace, obstacle, runInNamespace } from "./in-namespace.js"
import { problemsOf, report } from "./report.js"

const command = parseChaos(process.argv.slice(2), randomInt(2 ** 32))
if (command.kind === "run") await runOrExplain("chaos", () => runWhereAsked(command))
else showNotRun("chaos", help, command)

/** Namespaces have no way to the registries, so the server is fetched before. */
async function runWhereAsked(options: ChaosOptions): Promise<void> {
  if (!options.namespaces || isInNamespace) return run(options)
  const problem = obstacle()
  if (problem === undefined) {
    await programsOf("postgres-18")
    return runInNamespace()
  }
  process.stderr.write(`chaos: ${problem}\n`)
  process.exitCode = 1
}

async function run(options: ChaosOptions): Promise<void> {
  const { signal, exitCode } = interruption()
  const { path: directory } = temporaryFolder()
  // For the nodes as well, whose lifelines are there.
  process.env["TMPDIR"] = directory
  const chaos = new Chaos(options, directory)
  const progress = new ProgressLine(process.stderr, () => performance.now())
  const shows = setInterval(() => progress.say(`seed ${options.seed}`, chaos.progress), 500)
  let isClean = false
  try {
    const result = await chaos.run(signal)
    progress.clear()
    process.stdout.write(report(result, options, chaos.historyFile))
    isClean = problemsOf(result).length === 0
    process.exitCode = isClean ? (exitCode() ?? 0) : 1
  } finally {
    clearInterval(shows)
    await chaos.stop()
    if (isClean) removeAllBut("history.jsonl", directory)
  }
}

/** What is wrong may be seen in the store. If nothing is, it is of no use. */
function removeAllBut(kept: string, directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name !== kept) rmSync(join(directory, name), { recursive: true, force: true })
  }
}
