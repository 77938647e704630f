import { readFileSync } from "node:fs"
import { expect } from "vitest"

/**
 * Runs the scenarios of a text file, which also says what is expected: each line is what happens, then `->` and what
 * is to be done about it. To add a scenario, write the left sides into the file and run the test with `-u`.
 *
 *     # a title
 *     call 1            -> resolve
 *
 * Lines before the first title are the file's head. `begin` makes what a scenario happens to; what it gives is called
 * for each line, and returns what came of it.
 */
export async function expectScenarios(file: string, begin: () => (line: string) => string): Promise<void> {
  let happen: ((line: string) => string) | undefined
  const lines = readFileSync(file, "utf8").trimEnd().split("\n")
  const played = lines.map((written) => {
    if (written.startsWith("# ")) happen = begin()
    const line = (written.split("->")[0] as string).trim()
    if (line === "" || written.startsWith("#") || happen === undefined) return written
    const outcome = happen(line)
    return outcome === "" ? line : `${line.padEnd(WIDTH)} -> ${outcome}`
  })
  expect(played.length).toBeGreaterThan(0)
  await expect(`${played.join("\n")}\n`).toMatchFileSnapshot(file)
}

const WIDTH = 34
