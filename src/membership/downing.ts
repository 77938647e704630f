import type { MonotonicMs } from "../ports/clock.js"
import type { SplitBrainSituation, SplitBrainStrategy } from "./split-brain.js"

export interface DowningTerms {
  readonly strategy: SplitBrainStrategy
  readonly stableAfterMs: number
}

export type DowningCommand =
  | { readonly kind: "down"; readonly nodes: readonly string[]; readonly because: string }
  | {
      readonly kind: "down-self"
      readonly because: string
      /** What the strategy threw, or an error that says what is wrong with what it returned. */
      readonly fault?: unknown
    }

export class Downing {
  constructor(_terms: DowningTerms) {}

  /** When `tick` is due; undefined while every member is reachable. */
  get wakeAt(): MonotonicMs | undefined {
    return undefined
  }

  /** The view has changed, or may have. */
  viewed(_situation: SplitBrainSituation, _now: MonotonicMs): void {}

  /** Returns what to do now: nothing before `wakeAt`. */
  tick(_now: MonotonicMs): DowningCommand | undefined {
    return undefined
  }
}
