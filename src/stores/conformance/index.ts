import { commitRules } from "./commit-rules.js"
import { closingRules, epochRules } from "./ending-rules.js"
import { faultRules } from "./fault-rules.js"
import type { StoreHarness } from "./harness.js"
import { processRules } from "./process-rules.js"
import { raceRules } from "./race-rules.js"
import { readRules } from "./read-rules.js"
import { readingRules } from "./reading-rules.js"
import { revisionRules } from "./revision-rules.js"
import { type Rule, Scene } from "./scene.js"
import { forgettingRules, watchRules } from "./watch-rules.js"

export { type CallFault, type FaultyStore, faulty, type StoreCall } from "./faulty-store.js"
export type { ProviderOfModule, StoreHarness, StoreUnderTest } from "./harness.js"
export {
  type RecordedHistory,
  type RecordedOperation,
  type RecordOptions,
  recordHistories,
} from "./recorded-history.js"

/** A rule of the port, as a test. It rejects if the rule does not hold. */
export interface ConformanceCase {
  /** The rule, as the name of a test. */
  readonly name: string
  /** Runs the test. */
  run(): Promise<void>
}

/**
 * Returns the rules of `ClusterStore`, each as a test for any test runner, as in
 * `for (const { name, run } of storeConformance(harness)) test(name, run)`. Each case creates its own store.
 * Cases with other processes take seconds, the others some milliseconds.
 */
export function storeConformance(harness: StoreHarness): readonly ConformanceCase[] {
  const rules: Rule[] = [
    ...commitRules,
    ...revisionRules,
    ...readRules,
    ...readingRules,
    ...raceRules,
    ...watchRules,
    ...closingRules,
    ...faultRules,
    ...(harness.forgetsAfterCommits === undefined ? [] : forgettingRules(harness.forgetsAfterCommits)),
    ...(harness.changesEpoch === true ? epochRules : []),
    ...(harness.module === undefined ? [] : processRules(harness.module)),
  ]
  return rules.map(([name, check]) => ({ name, run: () => Scene.play(harness, check) }))
}
