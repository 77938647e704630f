import { programsOf } from "./engines.js"

/**
 * A command that runs a program whose wall clock is ahead of the machine's, or behind it for a negative number. Its
 * monotonic clock, by which timers and leases go, is that of the machine.
 */
export async function movedClock(byMs: number): Promise<readonly string[]> {
  const { library } = await programsOf("faketime")
  const by = byMs / 1_000
  return [
    "env",
    `LD_PRELOAD=${library}`,
    `FAKETIME=${by < 0 ? "" : "+"}${by}`,
    "FAKETIME_DONT_FAKE_MONOTONIC=1",
  ]
}
