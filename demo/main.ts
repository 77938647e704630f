import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { showNotRun } from "../tools/command-line.js"
import { interruption } from "../tools/interruption.js"
import { help, parseDemo } from "./command-line.js"
import { Demo } from "./demo.js"
import { summary } from "./summary.js"

const command = parseDemo(process.argv.slice(2), randomInt(2 ** 32))
if (command.kind !== "run") {
  showNotRun("demo", help, command)
} else {
  const { signal } = interruption()
  const directory = mkdtempSync(join(tmpdir(), "troupe-"))
  // By which the nodes tell each other's death, and whatever else goes where temporary things go.
  process.env["TMPDIR"] = directory
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }))
  const demo = new Demo(command, directory, process.stdout)
  try {
    const result = await demo.run(signal)
    process.stdout.write(summary(result))
    process.exitCode = result.problems.length === 0 ? 0 : 1
  } finally {
    await demo.stop()
  }
}
