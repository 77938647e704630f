/**
 * One line of the table: something measured, and where there is one the limit that it is measured against.
 */
export type Row = ThroughputRow | FreeRow

export interface RowLabel {
  /** Kebab-case; `--only` takes it. */
  readonly name: string
  /** What is counted: `parses/s`, `bytes`. */
  readonly unit: string
  readonly bar?: Bar
}

/** How fast something is, beside the least code that could do the same job. The unit ends in `/s`. */
export interface ThroughputRow extends RowLabel {
  readonly kind: "throughput"
  readonly ours: Contender
  readonly limit?: Contender
}

export interface Contender {
  setup(): Workload | Promise<Workload>
}

export interface Workload {
  /** Does the operation that many times. What it answers is measured along with its time. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most runs return nothing
  run(operations: number): void | Latency | Promise<void | Latency>
  /**
   * No sample has less: where many are in flight at a time, a few would only show how that begins and ends.
   */
  readonly fewestOperations?: number
  teardown?(): void | Promise<void>
}

export interface Latency {
  readonly p50Us: number
  readonly p99Us: number
}

/** Anything that is not a speed: it measures as it likes, and says from time to time how far it is. */
export interface FreeRow extends RowLabel {
  readonly kind: "free"
  measure(progress: (what: string) => void): Measurement | Promise<Measurement>
}

export interface Measurement extends Partial<Latency> {
  readonly value: number
  readonly limit?: number
  readonly ratio?: number
}

/** What a row must reach. */
export interface Bar {
  readonly of: "value" | "ratio"
  readonly better: "higher" | "lower"
  readonly at: number
}

/** A row without the figure that its bar is about has missed it. */
export function reaches(bar: Bar, measurement: Measurement): boolean {
  const figure = measurement[bar.of]
  if (figure === undefined) return false
  return bar.better === "higher" ? figure >= bar.at : figure <= bar.at
}
