import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { ActorId } from "../address/actor-id.js"
import { SpanSamples } from "./span-samples.js"

const id = ActorId.of("test", "Room", "lobby")

function setUp() {
  const clock = new ManualClock()
  return { clock, samples: new SpanSamples(clock, "0123456789abcdef") }
}

test("every call of an idle node is sampled, and few of those of a busy one", () => {
  const { samples } = setUp()
  const taken = (calls: number) => {
    let count = 0
    for (let call = 0; call < calls; call += 1) if (samples.isDue()) count += 1
    return count
  }
  expect(taken(100)).toBe(100)
  samples.tick()
  const first = taken(1_000_000)
  samples.tick()
  const second = taken(1_000_000)
  expect([first < 2_000, second < 200]).toEqual([true, true])
  for (let second = 0; second < 30; second += 1) samples.tick()
  expect(taken(50)).toBe(50)
})

test("what is called on behalf of a sampled call has its trace, and names its parent", () => {
  const { clock, samples } = setUp()
  const call = samples.begin({ kind: "call", id, method: "say" }, undefined, undefined)
  clock.holdUp(2)
  const turn = samples.begin({ kind: "turn", id, method: "say" }, call.context, undefined)
  clock.holdUp(3)
  turn.fail(new TypeError("no"))
  turn.end()
  call.end()
  expect(samples.recent.all().map(({ kind, durationMs, failed }) => [kind, durationMs, failed])).toEqual([
    ["turn", 3, "TypeError"],
    ["call", 5, undefined],
  ])
  expect([turn.context.traceId, turn.parentId]).toEqual([call.context.traceId, call.context.spanId])
  expect(call.context).toEqual({
    traceId: expect.stringMatching(/^0123456789abcdef[0-9a-f]{16}$/),
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    sampled: true,
  })
  expect(turn.context.spanId).not.toBe(call.context.spanId)
})

test("the telemetry of the program sees all that is sampled, and its trace is the one that travels", () => {
  const { samples } = setUp()
  const said: string[] = []
  const context = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true }
  const inner = {
    context,
    set: () => said.push("set"),
    fail: () => said.push("fail"),
    end: () => said.push("end"),
  }
  const span = samples.begin({ kind: "call", id, method: "say" }, undefined, inner)
  span.set({})
  span.fail(new Error("no"))
  span.end()
  expect([span.context, said]).toEqual([context, ["set", "fail", "end"]])
})

test("durations count by type, and calls apart from turns", () => {
  const { clock, samples } = setUp()
  for (const kind of ["call", "turn", "turn"] as const) {
    const span = samples.begin({ kind, id, method: "say" }, undefined, undefined)
    clock.holdUp(1)
    span.end()
  }
  const counted = [samples.calls, samples.turns].map((all) =>
    [...all].map(([type, { counts }]) => [type, counts.reduce((sum, count) => sum + count, 0)]),
  )
  expect(counted).toEqual([[["Room", 1]], [["Room", 2]]])
})
