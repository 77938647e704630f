import { readFileSync } from "node:fs"
import { expect } from "vitest"

/** Makes what a scenario happens to. What it gives is called for each line, and says what is to be done about it. */
export type Scene = () => (line: string) => string

/**
 * Runs the scenarios of a text file, which also says what is expected: each line is what happens, then `->` and what
 * is to be done about it. To add a scenario, write the left sides into the file and run the test with `-u`.
 *
 *     # a title
 *     call 1            -> resolve
 *
 * Lines before the first title are the file's head.
 */
export async function expectScenarios(file: string, begin: Scene): Promise<void> {
  await expect(played(file, begin)).toMatchFileSnapshot(file)
}

/** The title of the first scenario that does not end as the file says; undefined if all do. */
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
