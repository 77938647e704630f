/**
 * A bug for simulations to find: a piece of text in one module of production code, and what stands there
 * instead while the bug is planted.
 *
 * The text is looked for in what the compiler makes of the module under `workloads/tsconfig.json`: without
 * types and comments, with a semicolon after each statement. Where its lines break does not matter: any white
 * space stands for any other. It has to be there exactly once, or nothing runs: a planting that has been left
 * behind by the code it was written for would otherwise be a bug that is not there, and look like one that is
 * not found.
 *
 * Switches in production code, `if (planted("...")) ...`, would be found by every reader and shipped to every
 * user. Copies of a module with the bug in them would grow old unnoticed.
 */
export interface Planting {
  readonly name: string
  /** What is wrong with it, in a line. */
  readonly about: string
  /** What it is found by: the name of an assertion, or a part of the message. */
  readonly breaks: string
  /** The workload that finds it. */
  readonly workload: string
  readonly file: `src/${string}.ts`
  readonly from: string
  readonly to: string
}

/** A compiled module, with the bug in it. */
export function plantedText({ name, file, from, to }: Planting, compiled: string): string {
  const places = [...compiled.matchAll(whateverItsLines(from))]
  const [place] = places
  if (place === undefined || places.length > 1) {
    const count = place === undefined ? "not there" : `there ${places.length} times`
    throw new Error(
      `planting ${name}: its text has to be in ${file}, as compiled, exactly once, and is ${count}:\n${from}`,
    )
  }
  return compiled.slice(0, place.index) + to + compiled.slice(place.index + place[0].length)
}

/** The path of its module in a folder of compiled code. */
export function compiledPath({ file }: Planting): string {
  return file.replace(/\.ts$/, ".js")
}

function whateverItsLines(text: string): RegExp {
  const words = text.trim().split(/\s+/)
  return new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+"), "g")
}
