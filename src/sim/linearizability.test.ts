import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type CounterInput, type CounterOutput, counter } from "./counter-model.js"
import { History, knownAt, type Operation } from "./history.js"
import { checkLinearizable, type Model } from "./linearizability.js"
import { type RegisterInput, type RegisterOutput, type RegisterValue, register } from "./register-model.js"

const READ = { kind: "read" } as const
const WRITTEN = { kind: "written" } as const
const SWAPPED = { kind: "swapped" } as const
const KEPT = { kind: "kept" } as const
const ACK = { kind: "ack" } as const
const write = (value: RegisterValue) => ({ kind: "write", value }) as const
const swap = (expected: RegisterValue, value: RegisterValue) =>
  ({ kind: "compare-and-set", expected, value }) as const
const add = (amount: number) => ({ kind: "add", amount }) as const
const value = <T>(seen: T) => ({ kind: "value", value: seen }) as const

class Scenario<Input, Output> extends History<Input, Output> {
  /** An operation that is called and answered before anything else happens. */
  did(client: string, input: Input, output: Output): void {
    this.ok(this.invoke(client, "k", input), output)
  }

  call(client: string, input: Input): number {
    return this.invoke(client, "k", input)
  }
}

describe("a register", () => {
  const verdictOf = (tell: (history: Scenario<RegisterInput, RegisterOutput>) => void) => {
    const history = new Scenario<RegisterInput, RegisterOutput>()
    tell(history)
    return checkLinearizable(history, register(0))
  }

  test.each<[string, (history: Scenario<RegisterInput, RegisterOutput>) => void]>([
    ["an empty history", () => {}],
    [
      "one client after another",
      (h) => {
        h.did("a", write(1), WRITTEN)
        h.did("b", READ, value(1))
        h.did("b", swap(1, 2), SWAPPED)
        h.did("a", swap(1, 3), KEPT)
        h.did("a", READ, value(2))
      },
    ],
    [
      "reads that overlap a write see the old value, then the new one",
      (h) => {
        const writing = h.call("a", write(1))
        h.did("b", READ, value(0))
        h.did("b", READ, value(1))
        h.ok(writing, WRITTEN)
      },
    ],
    [
      "two writes that overlap, in the reverse order of their calls",
      (h) => {
        const first = h.call("a", write(1))
        const second = h.call("b", write(2))
        h.ok(second, WRITTEN)
        h.ok(first, WRITTEN)
        h.did("c", READ, value(1))
      },
    ],
    [
      "an unknown write that takes effect long after it returned",
      (h) => {
        h.unknown(h.call("a", write(1)))
        h.did("b", READ, value(0))
        h.did("b", write(2), WRITTEN)
        h.did("b", READ, value(2))
        h.did("b", READ, value(1))
      },
    ],
    [
      "an unknown write that never takes effect",
      (h) => {
        h.unknown(h.call("a", write(1)))
        h.did("b", READ, value(0))
      },
    ],
    [
      "a call that was never answered, whose effect was seen",
      (h) => {
        h.call("a", write(1))
        h.did("b", READ, value(1))
      },
    ],
    [
      "unknown operations that build on each other",
      (h) => {
        h.unknown(h.call("a", swap(2, 3)))
        h.unknown(h.call("b", swap(1, 2)))
        h.unknown(h.call("c", write(1)))
        h.did("d", READ, value(3))
      },
    ],
    [
      "an unknown write that only a refused compare-and-set observed",
      (h) => {
        h.unknown(h.call("a", write(1)))
        h.did("b", swap(0, 2), KEPT)
        h.did("b", READ, value(1))
      },
    ],
    [
      "a failed operation whose effect is not seen",
      (h) => {
        h.fail(h.call("a", write(1)))
        h.did("b", READ, value(0))
      },
    ],
    [
      "a compare-and-set that was done without a visible answer, either way",
      (h) => {
        h.did("a", swap(0, 1), { kind: "unspecified" })
        h.did("a", swap(0, 2), { kind: "unspecified" })
        h.did("b", READ, value(1))
      },
    ],
  ])("explains %s", (_, tell) => {
    expect(verdictOf(tell)).toMatchObject({ kind: "linearizable" })
  })

  test.each<[string, (history: Scenario<RegisterInput, RegisterOutput>) => void, string]>([
    [
      "a stale read",
      (h) => {
        h.did("a", write(1), WRITTEN)
        h.did("b", READ, value(0))
        h.did("a", write(2), WRITTEN)
      },
      "b: read -> 0  | it would be 1",
    ],
    [
      "a lost update",
      (h) => {
        h.did("a", write(1), WRITTEN)
        h.did("b", swap(1, 2), SWAPPED)
        h.did("c", READ, value(1))
      },
      "c: read -> 1  | it would be 2",
    ],
    [
      "a write that is seen and then lost",
      (h) => {
        const writing = h.call("a", write(1))
        h.did("b", READ, value(1))
        h.did("c", READ, value(0))
        h.ok(writing, WRITTEN)
      },
      "c: read -> 0  | it would be 1",
    ],
    [
      "a value that was never written",
      (h) => {
        h.did("a", write(1), WRITTEN)
        h.did("b", READ, value(7))
      },
      "b: read -> 7  | it would be 1",
    ],
    [
      "a value that is read before it is written",
      (h) => {
        h.did("b", READ, value(1))
        h.did("a", write(1), WRITTEN)
      },
      "b: read -> 1  | it would be 0",
    ],
    [
      "two swaps of the same value",
      (h) => {
        const first = h.call("a", swap(0, 1))
        const second = h.call("b", swap(0, 2))
        h.ok(first, SWAPPED)
        h.ok(second, SWAPPED)
      },
      "b: compare-and-set 0 to 2 -> swapped  | it would be kept",
    ],
    [
      "an unknown write that is seen and then lost",
      (h) => {
        h.unknown(h.call("a", write(1)))
        h.did("b", READ, value(1))
        h.did("b", READ, value(0))
      },
      "b: read -> 0  | it would be 1",
    ],
    [
      "an unknown write that is seen twice, with another in between",
      (h) => {
        h.unknown(h.call("a", write(1)))
        h.did("b", READ, value(1))
        h.did("b", write(2), WRITTEN)
        h.did("b", READ, value(1))
      },
      "b: read -> 1  | it would be 2",
    ],
    [
      "an unknown write that is seen before it was called",
      (h) => {
        h.did("b", READ, value(1))
        h.unknown(h.call("a", write(1)))
      },
      "b: read -> 1  | it would be 0",
    ],
    [
      "a failed write that is seen",
      (h) => {
        h.fail(h.call("a", write(1)))
        h.did("b", READ, value(1))
      },
      "b: read -> 1  | it would be 0",
    ],
    [
      "a compare-and-set that refused the value it expected",
      (h) => {
        h.did("a", swap(0, 1), KEPT)
      },
      "a: compare-and-set 0 to 1 -> kept  | it would be swapped",
    ],
    [
      "a string that is read as a number",
      (h) => {
        h.did("a", write("1"), WRITTEN)
        h.did("b", READ, value(1))
      },
      'b: read -> 1  | it would be "1"',
    ],
  ])("does not explain %s", (_, tell, misfit) => {
    const verdict = verdictOf(tell)
    expect(verdict).toMatchObject({ kind: "violation", key: "k" })
    expect(verdict.kind === "violation" && verdict.explanation.join("\n")).toContain(misfit)
  })
})

describe("a counter", () => {
  const verdictOf = (tell: (history: Scenario<CounterInput, CounterOutput>) => void) => {
    const history = new Scenario<CounterInput, CounterOutput>()
    tell(history)
    return checkLinearizable(history, counter())
  }

  test.each<[string, (history: Scenario<CounterInput, CounterOutput>) => void]>([
    [
      "overlapping adds that return the result",
      (h) => {
        const first = h.call("a", add(1))
        const second = h.call("b", add(2))
        h.ok(first, value(3))
        h.ok(second, value(2))
      },
    ],
    [
      "unknown adds, some of which happened",
      (h) => {
        for (const amount of [1, 1, 4]) h.unknown(h.call("a", add(amount)))
        h.did("b", add(2), ACK)
        h.did("b", READ, value(3))
        h.did("b", READ, value(7))
      },
    ],
  ])("explains %s", (_, tell) => {
    expect(verdictOf(tell)).toMatchObject({ kind: "linearizable" })
  })

  test.each<[string, (history: Scenario<CounterInput, CounterOutput>) => void]>([
    [
      "a counter that decreases",
      (h) => {
        h.did("a", add(2), ACK)
        h.did("b", READ, value(2))
        h.did("b", READ, value(1))
      },
    ],
    [
      "a lost add",
      (h) => {
        const first = h.call("a", add(1))
        const second = h.call("b", add(1))
        h.ok(first, value(1))
        h.ok(second, value(1))
      },
    ],
    [
      "an unknown add that happened twice",
      (h) => {
        h.unknown(h.call("a", add(1)))
        h.did("b", add(1), ACK)
        h.did("b", READ, value(3))
      },
    ],
  ])("does not explain %s", (_, tell) => {
    expect(verdictOf(tell)).toMatchObject({ kind: "violation", key: "k" })
  })
})

test("keys are checked separately, and the verdict names the one with a violation", () => {
  const history = new History<RegisterInput, RegisterOutput>()
  history.ok(history.invoke("a", "good", write(1)), WRITTEN)
  history.ok(history.invoke("a", "bad", READ), value(1))
  history.ok(history.invoke("a", "good", READ), value(1))
  expect(checkLinearizable(history, register())).toMatchObject({ kind: "violation", key: "bad" })
  const rest = { operations: history.operations.filter(({ key }) => key === "good") }
  expect(checkLinearizable(rest, register())).toEqual({ kind: "linearizable", keys: 1, operations: 2 })
})

test("an explanation shows the order so far, the misfit, and operations that do not help", () => {
  const history = new Scenario<RegisterInput, RegisterOutput>()
  history.unknown(history.call("d", write(9)))
  history.did("a", write(1), WRITTEN)
  const slow = history.call("b", write(2))
  history.unknown(history.call("e", write(3)))
  history.did("c", READ, value(2))
  history.did("c", READ, value(1))
  history.ok(slow, WRITTEN)
  history.did("c", READ, value(5))
  const verdict = checkLinearizable(history, register())
  if (verdict.kind !== "violation") throw new Error(`it is ${verdict.kind}`)
  expect(verdict.explanation).toEqual([
    '"k" is not linearizable: no order of the earlier operations explains an answer.',
    "The longest order found, and | the state after each:",
    "  [1..2]     a: write 1 -> written  | 1",
    "  [3..]      b: write 2 -> ?  | 2",
    "  [5..6]     c: read -> 2  | 2",
    "The answer that does not fit:",
    "  [7..8]     c: read -> 1  | it would be 2",
    "Operations without an answer, which do not help:",
    "  [0..]      d: write 9 -> ?",
    "  [4..]      e: write 3 -> ?",
  ])
  expect(verdict.operations.map(({ id }) => id)).toEqual([1, 2, 4, 5])
  expect(verdict.operations[1]).toEqual(history.operations[2])
})

test("an explanation of a long history shows its end", () => {
  const history = new Scenario<RegisterInput, RegisterOutput>()
  for (let turn = 1; turn <= 50; turn++) history.did("a", write(turn), WRITTEN)
  history.did("b", READ, value(49))
  const verdict = checkLinearizable(history, register())
  expect(verdict.kind === "violation" && verdict.explanation.slice(1, 4)).toEqual([
    "The longest order found, and | the state after each:",
    "  40 before these",
    "  [80..81]   a: write 41 -> written  | 41",
  ])
})

describe("its limit", () => {
  const history = new Scenario<CounterInput, CounterOutput>()
  for (let amount = 1; amount <= 40; amount++) history.unknown(history.call("a", add(2 ** amount)))
  history.did("b", READ, value(3))

  test("ends a search that would take too long", () => {
    const verdict = checkLinearizable(history, counter(), { maxConfigurations: 2_000 })
    expect(verdict).toMatchObject({ kind: "gave-up", key: "k" })
    expect(verdict.kind === "gave-up" && verdict.configurations).toBeLessThan(2_100)
  })

  test("must be a number of at least 1", () => {
    for (const maxConfigurations of [0, Number.NaN]) {
      expect(() => checkLinearizable(history, counter(), { maxConfigurations })).toThrow(RangeError)
    }
  })

  test("reached on one key does not hide a violation on another", () => {
    history.ok(history.invoke("c", "other", READ), value(1))
    const verdict = checkLinearizable(history, counter(), { maxConfigurations: 2_000 })
    expect(verdict).toMatchObject({ kind: "violation", key: "other" })
  })
})

describe("few configurations suffice for", () => {
  test("1,000 operations of five clients, a few unknown", () => {
    const history = busyRegister({ operations: 1_000, clients: 5, unknownEvery: 100 })
    const verdict = checkLinearizable(history, register(0), { maxConfigurations: 20_000 })
    expect(verdict).toMatchObject({ kind: "linearizable", operations: 1_000 })
  })

  test("the same, with an impossible answer near the end", () => {
    const history = busyRegister({ operations: 1_000, clients: 5, unknownEvery: 100 })
    history.did("z", write(-1), WRITTEN)
    history.did("z", READ, value(-2))
    const verdict = checkLinearizable(history, register(0), { maxConfigurations: 100_000 })
    expect(verdict).toMatchObject({ kind: "violation" })
    expect(verdict.kind === "violation" && verdict.operations.at(-1)?.client).toBe("z")
  })

  test.each([3, 1_000])("50 unknown writes of %i values, and then a violation", (values) => {
    const history = busyRegister({ operations: 300, clients: 5, unknownEvery: 6, values })
    history.did("z", write(-1), WRITTEN)
    history.did("z", READ, value(-2))
    const verdict = checkLinearizable(history, register(0), { maxConfigurations: 100_000 })
    expect(verdict).toMatchObject({ kind: "violation" })
  })

  test("50 unknown writes that only refused compare-and-sets may have observed", () => {
    const history = new Scenario<RegisterInput, RegisterOutput>()
    for (let turn = 1; turn <= 50; turn++) history.unknown(history.call("a", write(turn)))
    for (let turn = 1; turn <= 50; turn++) {
      history.did("b", write(0), WRITTEN)
      history.did("b", swap(0, -1), KEPT)
    }
    const limit = { maxConfigurations: 20_000 }
    expect(checkLinearizable(history, register(0), limit)).toMatchObject({ kind: "linearizable" })
    history.did("b", write(0), WRITTEN)
    history.did("b", swap(0, -1), KEPT)
    expect(checkLinearizable(history, register(0), limit)).toMatchObject({ kind: "violation" })
  })

  test("50 unknown increments", () => {
    const history = new Scenario<CounterInput, CounterOutput>()
    for (let turn = 1; turn <= 50; turn++) {
      history.unknown(history.call("a", add(1)))
      history.did("b", add(1), ACK)
      history.did("b", READ, value(turn + Math.floor(turn / 2)))
    }
    const limit = { maxConfigurations: 20_000 }
    expect(checkLinearizable(history, counter(), limit)).toMatchObject({ kind: "linearizable" })
    history.did("b", READ, value(101))
    expect(checkLinearizable(history, counter(), limit)).toMatchObject({ kind: "violation" })
  })

  test("unknown adds of eight amounts, among a hundred adds that do not reveal them", () => {
    const history = new Scenario<CounterInput, CounterOutput>()
    for (let bit = 0; bit < 8; bit++) history.unknown(history.call("a", add(2 ** bit)))
    for (let turn = 0; turn < 100; turn++) history.did("b", add(1), ACK)
    history.did("b", READ, value(99))
    const verdict = checkLinearizable(history, counter(), { maxConfigurations: 250_000 })
    expect(verdict).toMatchObject({ kind: "violation" })
  })
})

/**
 * Clients take turns in a fixed pattern, and each operation takes effect at a point between its call and its
 * answer.
 */
function busyRegister(options: {
  readonly operations: number
  readonly clients: number
  readonly unknownEvery: number
  readonly values?: number
}): Scenario<RegisterInput, RegisterOutput> {
  const { operations, clients, unknownEvery, values = 10 } = options
  const history = new Scenario<RegisterInput, RegisterOutput>()
  const { step } = register()
  const open: { id: number; input: RegisterInput; output: RegisterOutput | undefined }[] = []
  let state: RegisterValue = 0
  let seed = 7
  const draw = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const finish = (one: (typeof open)[number] | undefined) => {
    if (one === undefined) return
    if (one.output === undefined) {
      const after = step(state, one.input)
      state = after.state
      one.output = after.output
    }
    if (one.id % unknownEvery === unknownEvery - 1) history.unknown(one.id)
    else history.ok(one.id, one.output)
  }
  for (let turn = 0; turn < operations; turn++) {
    if (open.length === clients) finish(open.splice(draw(clients), 1)[0])
    const inputs = [READ, write(draw(values)), swap(draw(values), draw(values))] as const
    const isUnknown = turn % unknownEvery === unknownEvery - 1
    const input = isUnknown ? inputs[1] : (inputs[draw(3)] ?? READ)
    open.push({ id: history.call(`client ${turn % clients}`, input), input, output: undefined })
    const early = open[draw(open.length)]
    if (early !== undefined && early.output === undefined && draw(2) === 0) {
      const after = step(state, early.input)
      state = after.state
      early.output = after.output
    }
  }
  for (const one of open) finish(one)
  return history
}

describe("agrees with an exhaustive search", () => {
  const small = fc.integer({ min: 0, max: 2 })
  const registerCase = casesOf<RegisterValue, RegisterInput, RegisterOutput>({
    model: register(0),
    input: fc.oneof(
      fc.constant(READ),
      small.map(write),
      fc.tuple(small, small).map(([from, to]) => swap(from, to)),
    ),
    lie: fc.oneof(small.map(value), fc.constantFrom<RegisterOutput>(SWAPPED, KEPT, { kind: "unspecified" })),
  })
  const counterCase = casesOf<number, CounterInput, CounterOutput>({
    model: counter(),
    input: fc.oneof(fc.constant(READ), fc.integer({ min: -1, max: 2 }).map(add)),
    lie: fc.oneof(fc.integer({ min: -1, max: 4 }).map(value), fc.constant(ACK)),
  })
  const queueCase = casesOf<string, string, string>({
    model: queue(),
    input: fc.constantFrom("a", "b", "take"),
    lie: fc.constantFrom("a", "b", "none"),
  })

  test("on registers", () => compare(registerCase, register(0)))
  test("on counters", () => compare(counterCase, counter()))
  test("on a custom model", () => compare(queueCase, queue()))

  function compare<State, Input, Output>(
    cases: fc.Arbitrary<History<Input, Output>>,
    model: Model<State, Input, Output>,
  ): void {
    const met = { linearizable: 0, violation: 0, gaveUp: 0 }
    fc.assert(
      fc.property(cases, (history) => {
        const verdict = checkLinearizable(history, model)
        const expected = hasOrder(history.operations, model) ? "linearizable" : "violation"
        expect(verdict.kind).toBe(expected)
        met[expected] += 1
        // So few that most histories are left to the second pass of the search.
        const hurried = checkLinearizable(history, model, { maxConfigurations: 50 }).kind
        if (hurried === "gave-up") met.gaveUp += 1
        else expect(hurried).toBe(expected)
        if (verdict.kind !== "violation") return
        const { outcome } = verdict.operations.at(-1) as Operation<Input, Output>
        const order = outcome.kind === "ok" ? outcome.returned.order : Number.NaN
        expect(hasOrder(knownAt(history.operations, order - 1), model)).toBe(true)
        expect(hasOrder(knownAt(history.operations, order), model)).toBe(false)
      }),
      { numRuns: 2_000 },
    )
    expect(met.linearizable).toBeGreaterThan(100)
    expect(met.violation).toBeGreaterThan(100)
    expect(met.gaveUp).toBeLessThan(500)
  }
})

/** A queue of letters: `take` returns the first letter or none; putting a letter returns the letter. */
function queue(): Model<string, string, string> {
  return {
    init: "",
    step: (state, input) =>
      input === "take"
        ? { state: state.slice(1), output: state[0] ?? "none" }
        : { state: state + input, output: input },
    matches: (seen, given) => seen === given,
    observesOnly: () => false,
    stateText: (state) => state,
    inputText: (input) => input,
    outputText: (output) => output,
  }
}

/**
 * Histories of up to seven operations that were run one at a time, with some answers falsified afterwards.
 */
function casesOf<State, Input, Output>(from: {
  readonly model: Model<State, Input, Output>
  readonly input: fc.Arbitrary<Input>
  readonly lie: fc.Arbitrary<Output>
}): fc.Arbitrary<History<Input, Output>> {
  const planned = fc.record({
    input: from.input,
    calledAt: fc.integer({ min: 0, max: 20 }),
    untilDone: fc.integer({ min: 0, max: 8 }),
    untilAnswer: fc.integer({ min: 0, max: 6 }),
    fate: fc.constantFrom("ok", "ok", "ok", "late", "never", "fail"),
    lie: fc.option(from.lie, { freq: 8 }),
  })
  return fc.array(planned, { minLength: 1, maxLength: 7 }).map((plans) => {
    const history = new History<Input, Output>()
    const ids = new Map<object, number>()
    const outputs = new Map<object, Output>()
    let state = from.model.init
    const events = plans.flatMap((plan) => {
      const doneAt = plan.calledAt + plan.untilDone + (plan.fate === "late" ? 5 : 0)
      const call = () => ids.set(plan, history.invoke("c", "k", plan.input))
      const effect = () => {
        const after = from.model.step(state, plan.input)
        state = after.state
        outputs.set(plan, plan.lie ?? after.output)
      }
      const answer = () => {
        const id = ids.get(plan) ?? 0
        if (plan.fate === "ok") history.ok(id, outputs.get(plan) as Output)
        else if (plan.fate === "fail") history.fail(id)
        else history.unknown(id)
      }
      const isDone = plan.fate === "ok" || plan.fate === "late"
      return [
        { at: plan.calledAt, run: call },
        ...(isDone ? [{ at: doneAt, run: effect }] : []),
        { at: plan.calledAt + plan.untilDone + plan.untilAnswer, run: answer },
      ]
    })
    for (const { run } of events.sort((a, b) => a.at - b.at)) run()
    return history
  })
}

/**
 * The definition itself: any operation that no remaining operation has to precede may be next, and unknown
 * ones may be left out.
 */
function hasOrder<State, Input, Output>(
  operations: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): boolean {
  const explains = (left: readonly Operation<Input, Output>[], state: State): boolean => {
    if (left.every(({ outcome }) => outcome.kind === "unknown")) return true
    return left.some((one) => {
      const hasEarlier = left.some(
        ({ outcome }) => outcome.kind === "ok" && outcome.returned.order < one.called.order,
      )
      if (hasEarlier) return false
      const after = model.step(state, one.input)
      if (one.outcome.kind === "ok" && !model.matches(one.outcome.output, after.output)) return false
      return explains(
        left.filter((other) => other !== one),
        after.state,
      )
    })
  }
  return explains(
    operations.filter(({ outcome }) => outcome.kind !== "fail"),
    model.init,
  )
}
