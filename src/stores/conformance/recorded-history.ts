import type { StoreHarness } from "./harness.js"
import { OtherProcess } from "./other-process.js"
import type { RegisterAnswer, RegisterCall, Report } from "./process.js"
import { drawing } from "./revision-rules.js"

/** The requests of processes to a store, and the answers that they saw. */
export interface RecordedHistory {
  /** The operations of all processes. */
  readonly operations: readonly RecordedOperation[]
  /** The number of processes that were killed. */
  readonly kills: number
}

/** A request of a process, and the answer that it saw. */
export interface RecordedOperation {
  /** The id, unique in its history. */
  readonly id: number
  /** The process that made the request. */
  readonly client: string
  /** The key of the register. */
  readonly key: string
  /** The request. */
  readonly input: RegisterCall
  /** When the request was made. */
  readonly called: RecordedMoment
  /** The answer, or whether the request is known not to have happened. */
  readonly outcome:
    | { readonly kind: "ok"; readonly output: RegisterAnswer; readonly returned: RecordedMoment }
    | { readonly kind: "fail" }
    | { readonly kind: "unknown" }
}

interface RecordedMoment {
  readonly order: number
  /** In milliseconds, of a clock that all processes share. */
  readonly time: number
}

/** Options of {@link recordHistories}. */
export interface RecordOptions {
  /** The number of histories, each with its own store. */
  readonly runs: number
  /** The seed of the first run; each further run adds one. Default 1. */
  readonly seed?: number
  /** The number of processes at a time. Default 4. */
  readonly processes?: number
  /** The keys of the registers. Default three keys that are not watched. */
  readonly keys?: readonly string[]
  /** The number of operations of a process that is not killed. Default 40. */
  readonly operations?: number
}

/**
 * Runs some processes that use a few registers on one store; some of them are killed in the middle and
 * replaced by others. Each run returns the history of its operations, with times of a clock that the
 * processes of one machine share. Check it with `checkLinearizable(history, register())` of `troupe/sim`.
 */
export async function* recordHistories(
  harness: StoreHarness,
  { runs, seed = 1, processes = 4, keys = KEYS, operations = OPERATIONS }: RecordOptions,
): AsyncGenerator<RecordedHistory, undefined> {
  for (let run = 0; run < runs; run += 1) {
    yield await record(harness, { runs, seed: seed + run, processes, keys, operations })
  }
}

async function record(
  harness: StoreHarness,
  { seed, processes, keys, operations }: Required<RecordOptions>,
): Promise<RecordedHistory> {
  const { module } = harness
  if (module === undefined) throw new Error("histories need other processes; set `module` of the harness")
  const underTest = await harness.create()
  const recorder = new Recorder()
  const draw = drawing(seed)
  let kills = 0
  const live = async (client: number) => {
    for (let life = 1, isOver = false; !isOver; life += 1) {
      const name = `p${client}.${life}`
      const job = {
        kind: "registers",
        name,
        keys,
        operations,
        seed: draw(2 ** 31),
      } as const
      const one = await OtherProcess.start(module, underTest, job)
      recorder.follow(name, one)
      // The last process of each client completes its work; the ones before are killed in the middle.
      isOver = life > draw(3)
      const last = draw(operations)
      await one.until((report) => report.kind === "done" || (!isOver && "id" in report && report.id >= last))
      await one.kill()
      if (!isOver) kills += 1
    }
  }
  try {
    await Promise.all(Array.from({ length: processes }, (_, index) => live(index + 1)))
    return { operations: recorder.operations(), kills }
  } finally {
    await underTest.dispose()
  }
}

const KEYS = ["register-1", "register-2", "register-3"]
const OPERATIONS = 40

class Recorder {
  readonly #calls: { readonly client: string; readonly report: Called }[] = []
  readonly #ends = new Map<string, Exclude<Report, Called>>()

  follow(client: string, one: OtherProcess): void {
    const take = (report: Report) => {
      if (report.kind === "called") this.#calls.push({ client, report })
      else if ("id" in report) this.#ends.set(`${client} ${report.id}`, report)
    }
    one.onReport = take
    for (const report of one.reports) take(report)
  }

  operations(): RecordedOperation[] {
    const orderOf = this.#orders()
    return this.#calls
      .map(({ client, report: { id, key, call, time } }): Omit<RecordedOperation, "id"> => {
        const name = `${client} ${id}`
        const called = { order: orderOf(`call ${name}`), time: Number(time) / 1e6 }
        const end = this.#ends.get(name)
        if (end?.kind === "failed") return { client, key, input: call, called, outcome: { kind: "fail" } }
        if (end?.kind !== "answered")
          return { client, key, input: call, called, outcome: { kind: "unknown" } }
        const returned = { order: orderOf(`answer ${name}`), time: Number(end.time) / 1e6 }
        return { client, key, input: call, called, outcome: { kind: "ok", output: end.answer, returned } }
      })
      .sort((one, other) => one.called.order - other.called.order)
      .map((operation, id) => ({ id, ...operation }))
  }

  /**
   * Returns the position of each moment among all. At one instant calls come before answers, so that
   * operations overlap.
   */
  #orders(): (name: string) => number {
    const moments = [
      ...this.#calls.map(({ client, report }) => ({
        name: `call ${client} ${report.id}`,
        time: BigInt(report.time),
        rank: 0,
      })),
      ...[...this.#ends].flatMap(([name, end]) =>
        end.kind === "answered" ? [{ name: `answer ${name}`, time: BigInt(end.time), rank: 1 }] : [],
      ),
    ]
    moments.sort((one, other) =>
      one.time === other.time ? one.rank - other.rank : one.time < other.time ? -1 : 1,
    )
    const orders = new Map(moments.map(({ name }, order) => [name, order]))
    return (name) => orders.get(name) as number
  }
}

type Called = Extract<Report, { kind: "called" }>
