/**
 * How a throughput is measured.
 *
 * A number of operations that takes a sample's time is found for each contender, both are warmed up, and then
 * they take turns: the machine's mood, its heat and its neighbours fall on both alike, so the ratio is
 * steadier than either speed. The order within a round flips from round to round, which cancels a drift. The
 * median over the rounds is reported, since what disturbs a sample only ever makes it slower, and a mean
 * would carry that along.
 *
 * Young garbage is collected before each sample, or one contender would pay for what the other left behind.
 * Not all of it: a full collection makes the engine throw optimised code away, and the sample would then
 * measure how fast it comes back.
 */
import { median } from "./quantile.js"
import type { Latency, Measurement, Row, ThroughputRow, Workload } from "./row.js"

export interface Instruments {
  nowMs(): number
  collectGarbage(): void
  progress(what: string): void
}

export const rounds = 11

const sample = { fromMs: 50, aimMs: 75, toMs: 100 }
const warmUpMs = 500

export async function measure(row: Row, instruments: Instruments): Promise<Measurement> {
  return row.kind === "free" ? row.measure(instruments.progress) : race(row, instruments)
}

async function race(row: ThroughputRow, instruments: Instruments): Promise<Measurement> {
  instruments.progress("setting up")
  const ours = new Racer(await row.ours.setup(), instruments)
  const limit = row.limit && new Racer(await row.limit.setup(), instruments)
  const racers = limit === undefined ? [ours] : [ours, limit]

  instruments.progress("warming up")
  for (const racer of racers) await racer.warmUp()
  for (const racer of racers) await racer.calibrate()
  for (let round = 0; round < rounds; round += 1) {
    instruments.progress(`round ${round + 1} of ${rounds}`)
    for (const racer of inTurn(racers, round)) await racer.sample()
  }
  for (const racer of racers) await racer.workload.teardown?.()

  const value = median(ours.speeds)
  return { value, ...compared(value, limit), ...ours.latency() }
}

function compared(value: number, limit: Racer | undefined): Pick<Measurement, "limit" | "ratio"> {
  if (limit === undefined) return {}
  const speed = median(limit.speeds)
  return { limit: speed, ratio: value / speed }
}

/** Who goes first changes with every round. */
export function inTurn<T>(racers: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? racers : racers.toReversed()
}

/**
 * Finds how many operations take a sample's time, starting from a guess. An operation that by itself takes
 * longer is sampled alone, or with the fewest others that make sense. The guess is corrected at most tenfold
 * at once, for the first samples of cold code mislead.
 */
export async function calibrate(
  timeMs: (operations: number) => Promise<number>,
  guess = 1,
  fewest = 1,
): Promise<number> {
  let operations = Math.max(guess, fewest)
  for (let attempt = 0; attempt < 40; attempt += 1) {
    let elapsed = await timeMs(operations)
    // A machine that others use stalls now and then; it hardly does so twice.
    if (elapsed >= sample.fromMs && elapsed <= sample.toMs)
      elapsed = Math.min(elapsed, await timeMs(operations))
    if (elapsed >= sample.fromMs && (elapsed <= sample.toMs || operations === fewest)) return operations
    const correction = Math.min(10, Math.max(0.1, sample.aimMs / elapsed))
    operations = Math.max(fewest, Math.round(operations * correction))
    if (operations > 1e12) throw new Error("the run takes no time, however many operations it is given")
  }
  return operations
}

class Racer {
  readonly workload: Workload
  /** Operations per second, one entry for each sample. */
  readonly speeds: number[] = []
  readonly #instruments: Instruments
  readonly #latencies: Latency[] = []
  #operations = 1

  constructor(workload: Workload, instruments: Instruments) {
    this.workload = workload
    this.#instruments = instruments
  }

  async calibrate(): Promise<void> {
    this.#operations = await calibrate(
      async (operations) => (await this.#run(operations)).elapsedMs,
      this.#operations,
      this.workload.fewestOperations,
    )
  }

  async warmUp(): Promise<void> {
    await this.calibrate()
    for (let spentMs = 0; spentMs < warmUpMs; ) spentMs += (await this.#run(this.#operations)).elapsedMs
  }

  async sample(): Promise<void> {
    this.#instruments.collectGarbage()
    const { elapsedMs, latency } = await this.#run(this.#operations)
    this.speeds.push((this.#operations * 1_000) / elapsedMs)
    if (latency !== undefined) this.#latencies.push(latency)
  }

  /** The medians over the samples; nothing where the workload does not tell. */
  latency(): Partial<Latency> {
    if (this.#latencies.length === 0) return {}
    return {
      p50Us: median(this.#latencies.map(({ p50Us }) => p50Us)),
      p99Us: median(this.#latencies.map(({ p99Us }) => p99Us)),
    }
  }

  async #run(operations: number): Promise<{ elapsedMs: number; latency: Latency | undefined }> {
    const startedAt = this.#instruments.nowMs()
    const latency = (await this.workload.run(operations)) ?? undefined
    return { elapsedMs: this.#instruments.nowMs() - startedAt, latency }
  }
}
