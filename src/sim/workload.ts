import type { FaultKind } from "./faults.js"
import type { Stage } from "./stage.js"

/** A program for a simulated world, and the assertions that must hold while it runs. */
export interface Workload {
  /** The name, by which the workload is run. */
  readonly name: string
  /** A one-line description for the list of workloads. */
  readonly about: string
  /** The faults that may be enabled. Default: all except `store-epoch`, which loses acknowledged writes. */
  readonly faults?: readonly FaultKind[]
  /** The least that a run must have done, on average over its seeds. A run that did less shows nothing. */
  readonly floors?: Floors
  /** The limits of one seed, where they differ from the defaults. */
  readonly limits?: Partial<Limits>
  /** Runs the workload. The seed passes if the promise resolves and no assertion failed. */
  run(stage: Stage): Promise<void>
}

/** The least that a run must have done, on average over its seeds. */
export interface Floors {
  /** The number of operations that the workload counted. */
  readonly operations?: number
  /** The number of faults that occurred. */
  readonly faults?: number
  /** How often each `sometimes` must be reached, by its name. */
  readonly sometimes?: Readonly<Record<string, number>>
}

/** The limits of one seed. */
export interface Limits {
  /** The virtual time that one seed may take. Default 3,600,000. */
  readonly virtualMs: number
  /** The number of steps that one seed may take. Default 5,000,000. */
  readonly steps: number
  /** The number of steps at one instant that count as an endless loop. Default 100,000. */
  readonly stepsAtOneInstant: number
}
