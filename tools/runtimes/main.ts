/**
 * Installs the packed package into a new project, and uses it there on the runtimes and with the bundlers that the
 * npm registry has. Prints a table; the exit code is 1 if anything in it failed.
 */
import { mkdirSync } from "node:fs"
import { temporaryFolder } from "../cluster/temporary-folder.js"
import { newConsumer } from "./consumer.js"
import { rows } from "./rows.js"
import { installToolbox } from "./toolbox.js"

/** Wide enough for the longest name. */
const NAME_WIDTH = 28

const scratch = temporaryFolder()
process.once("exit", () => scratch.remove())
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

mkdirSync(scratch.file("tools"))
const tools = await installToolbox(scratch.file("tools"))
const consumer = await newConsumer(scratch.path)
console.log(`package: ${consumer.sizes}`)
const failures: string[] = []
for (const { name, run } of rows(consumer, tools, scratch.path)) {
  try {
    console.log(`${name.padEnd(NAME_WIDTH)} ok      ${await run()}`)
  } catch (error) {
    console.log(`${name.padEnd(NAME_WIDTH)} FAILED`)
    failures.push(`${name}: ${(error as Error).message}`)
  }
}
if (failures.length > 0) {
  console.error(`\n${failures.join("\n\n")}`)
  process.exitCode = 1
}
