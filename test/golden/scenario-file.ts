import { readFileSync } from "node:fs"
import { expect } from "vitest"

/** Creates the subject of a scenario. The returned function is called for each event, and returns the commands. */
export type Scene = () => (line: string) => string

/**
 * Runs the scenarios of a text file, which also contains the expectations: each line is an event, then `->` and the
 * expected commands. To add a scenario, write the left sides into the file and run the test with `-u`.
 *
 *     # a title
 *     call 1            -> resolve
 *
 * Lines before the first title are the header of the file.
 */
export async function expectScenarios(file: string, begin: Scene): Promise<void> {
  await expect(played(file, begin)).toMatchFileSnapshot(file)
}

/** Returns the title of the first scenario that differs from the file; undefined if none does. */
export function firstFailing(file: string, begin: Scene): string | undefined {
  const expected = readFileSync(file, "utf8").split("\n")
  let title = ""
  for (const [at, line] of played(file, begin).split("\n").entries()) {
    if (line.startsWith("# ")) title = line.slice(2)
    if (line !== expected[at]) return title
  }
  return undefined
}

function played(file: string, begin: Scene): string {
  let happen: ((line: string) => string) | undefined
  const lines = readFileSync(file, "utf8").trimEnd().split("\n")
  const results = lines.map((written) => {
    if (written.startsWith("# ")) happen = begin()
    const line = (written.split("->")[0] as string).trim()
    if (line === "" || written.startsWith("#") || happen === undefined) return written
    const outcome = outcomeOf(() => (happen as (line: string) => string)(line))
    return outcome === "" ? line : `${line.padEnd(WIDTH)} -> ${outcome}`
  })
  return `${results.join("\n")}\n`
}

function outcomeOf(happen: () => string): string {
  try {
    return happen()
  } catch (error) {
    return `throws ${(error as Error).message}`
  }
}

const WIDTH = 34
