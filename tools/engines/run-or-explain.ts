import { EngineMissingError } from "./engines.js"

/** Runs a program. If an engine cannot be had, that is all there is to say, and the exit code is 1. */
export async function runOrExplain(program: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof EngineMissingError)) throw error
    process.stderr.write(`${program}: ${error.message}\n`)
    process.exitCode = 1
  }
}
