import type { FaultKind } from "./faults.js"
import type { Stage } from "./stage.js"

/** Something to do in a simulated world, and what must hold while it is done. */
export interface Workload {
  readonly name: string
  /** One line for the list. */
  readonly about: string
  /** The faults that it is made for. All unless set. */
  readonly faults?: readonly FaultKind[]
  /** What a run must have done at least, for each seed in the mean. A run that did less proved nothing. */
  readonly floors?: Floors
  readonly limits?: Partial<Limits>
  run(stage: Stage): Promise<void>
}

export interface Floors {
  readonly operations?: number
  readonly faults?: number
  /** How often something that is to happen `sometimes` was reached, by its name. */
  readonly sometimes?: Readonly<Record<string, number>>
}

export interface Limits {
  /** Virtual time that one seed may take. 3,600,000 unless set. */
  readonly virtualMs: number
  /** Steps that one seed may take. 5,000,000 unless set. */
  readonly steps: number
  /** Steps at one instant, beyond which it is taken for an endless loop. 100,000 unless set. */
  readonly stepsAtOneInstant: number
}
