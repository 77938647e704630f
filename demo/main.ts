import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { interruption } from "../tools/interruption.js"
import { help, parseCommand } from "./command-line.js"
import { Demo } from "./demo.js"
import { summary } from "./summary.js"

const command = parseCommand(process.argv.slice(2), randomInt(2 ** 32))
if (command.kind === "help") {
  process.stdout.write(help)
} else if (command.kind === "wrong") {
  process.stderr.write(`demo: ${command.problem}\n`)
  process.exitCode = 2
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
