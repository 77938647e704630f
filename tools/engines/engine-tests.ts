import { describe, it } from "vitest"
import { EngineMissingError, type EngineName, type Missing, obtain } from "./engines.js"

declare module "vitest" {
  interface TaskMeta {
    /** The engine that a test could not have. */
    missing?: Missing
  }
}

/** Whether this run is for the engines, in full; `npm test` runs a share. */
export const isFull = process.env["TROUPE_ENGINES"] === "full"

/**
 * Declares tests that need an engine, which is fetched at its first use. Where it cannot be had, one test stands for
 * them: `npm test` then ends with the engine and the reason, and fails if `TROUPE_ENGINES_REQUIRED` is set, as in CI.
 */
export async function describeWith(
  engines: EngineName | readonly EngineName[],
  name: string,
  tests: () => void,
): Promise<void> {
  for (const engine of [engines].flat()) {
    const obtained = await obtain(engine)
    if (obtained.kind === "missing") return declareMissing(name, obtained)
  }
  describe(name, tests)
}

function declareMissing(name: string, missing: Missing): void {
  it(`${name} needs ${missing.engine}`, ({ task, skip }) => {
    if (process.env["TROUPE_ENGINES_REQUIRED"]) throw new EngineMissingError(missing)
    task.meta.missing = missing
    skip(missing.reason)
  })
}
