import type { ActorSystem } from "../src/index.js"
import { withOptions } from "../src/index.js"
import {
  type CounterInput,
  type CounterOutput,
  checkLinearizable,
  counter,
  History,
  type Operation,
  type RegisterInput,
  type RegisterOutput,
  type RegisterValue,
  register,
  type SeededRandom,
  type Verdict,
} from "../src/sim/index.js"
import type { Answer } from "./answer.js"
import { Counter } from "./counter-actor.js"
import { Register } from "./register-actor.js"

/** A kind of actor that is called: what is asked of it, and how that is judged. */
export interface Subject<Input, Output> {
  readonly name: string
  readonly history: History<Input, Output>
  /** `seen` is what this client was told of this actor last. */
  choose(random: SeededRandom, seen: Output | undefined): Input
  readonly look: Input
  call(system: ActorSystem, key: string, input: Input, timeoutMs: number): Promise<Answer<Output>>
  check(): Verdict<Input, Output>
  /** What is wrong with what an actor had in the end; undefined if nothing is. */
  lost(operations: readonly Operation<Input, Output>[], last: Output): string | undefined
}

export function registers(now: () => number): Subject<RegisterInput, RegisterOutput> {
  const history = new History<RegisterInput, RegisterOutput>(now)
  let values = 0
  return {
    name: "register",
    history,
    look: { kind: "read" },
    choose: (random, seen) => {
      const drawn = random.unit()
      if (drawn < 0.4) return { kind: "read" }
      values += 1
      const value = `v${values}`
      if (drawn < 0.8 || seen?.kind !== "value") return { kind: "write", value }
      return { kind: "compare-and-set", expected: seen.value, value }
    },
    call: (system, key, input, timeoutMs) => {
      const actor = withOptions(system.actor(Register, key), { timeoutMs })
      return input.kind === "read" ? actor.read() : actor.change(input)
    },
    check: () => checkLinearizable(history, register(), CHECK),
    lost: (operations, last) =>
      last.kind === "value" ? lostValue(operations, last.value) : "it was not read",
  }
}

export function counters(now: () => number): Subject<CounterInput, CounterOutput> {
  const history = new History<CounterInput, CounterOutput>(now)
  return {
    name: "counter",
    history,
    look: { kind: "read" },
    // All adds are alike: so it matters how many of those with no answer happened, and not which.
    choose: (random) => (random.chance(0.4) ? { kind: "read" } : { kind: "add", amount: 1 }),
    call: (system, key, input, timeoutMs) => {
      const actor = withOptions(system.actor(Counter, key), { timeoutMs })
      return input.kind === "read" ? actor.read() : actor.add(input.amount)
    },
    check: () => checkLinearizable(history, counter(), CHECK),
    lost: (operations, last) =>
      last.kind === "value" ? lostAdds(operations, last.value) : "it was not read",
  }
}

const CHECK = { maxConfigurations: 2_000_000 }

/**
 * A value is lost if it was acknowledged and is not there, though nothing came that could have taken its
 * place.
 */
function lostValue(
  operations: readonly Operation<RegisterInput, RegisterOutput>[],
  last: RegisterValue,
): string | undefined {
  const writes = operations.filter(({ input, outcome }) => {
    if (input.kind === "read" || outcome.kind === "fail") return false
    return outcome.kind === "unknown" || outcome.output.kind !== "kept"
  })
  const written = ({ input }: (typeof writes)[number]) => (input.kind === "read" ? undefined : input.value)
  const there = writes.find((write) => written(write) === last)
  const acknowledged = writes.filter(({ outcome }) => outcome.kind === "ok")
  if (there === undefined) {
    return last === null && acknowledged.length === 0
      ? undefined
      : `it has ${last}, and ${acknowledged.length} writes were acknowledged`
  }
  if (there.outcome.kind !== "ok") return undefined
  const { returned } = there.outcome
  const later = acknowledged.find(({ called }) => called.order > returned.order)
  return later && `it has ${last}, though ${written(later)} was written after that, and acknowledged`
}

function lostAdds(
  operations: readonly Operation<CounterInput, CounterOutput>[],
  last: number,
): string | undefined {
  const sum = (kind: "ok" | "unknown") =>
    operations
      .filter(({ outcome }) => outcome.kind === kind)
      .reduce((total, { input }) => total + (input.kind === "add" ? input.amount : 0), 0)
  const least = sum("ok")
  const most = least + sum("unknown")
  if (last < least) return `it has ${last}, and ${least} were added and acknowledged`
  return last > most ? `it has ${last}, and ${most} were added at most` : undefined
}
