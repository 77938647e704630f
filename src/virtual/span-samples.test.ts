import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { ActorId } from "../address/actor-id.js"
import type { ActorTarget } from "./actor-target.js"
import { CallSpans } from "./call-spans.js"
import { type SampledSpan, SpanSamples } from "./span-samples.js"

const id = ActorId.of("test", "Room", "lobby")

function setUp() {
  const clock = new ManualClock()
  return { clock, samples: new SpanSamples(clock, "0123456789abcdef") }
}

test("every call of an idle node is sampled, and few of those of a busy one", () => {
  const { samples } = setUp()
  const taken = (calls: number) => Array.from({ length: calls }, () => samples.take()).filter(Boolean).length
  expect([taken(5), samples.hasRoom]).toEqual([5, true])
  samples.refill()
  expect([taken(100_000), samples.hasRoom]).toEqual([12, false])
  samples.refill()
  expect([taken(3), samples.hasRoom]).toEqual([3, true])
})

test("a node without room for samples is not asked for calls from outside, until there is room again", () => {
  const spans = CallSpans.of(undefined, setUp().samples) as CallSpans
  const target = { id, maker: undefined } as ActorTarget
  const begun = () => Array.from({ length: 20 }, () => spans.ofCall(target, "say")).filter(Boolean).length
  expect([begun(), spans.isShut, begun()]).toEqual([12, true, 0])
  spans.refill()
  expect([spans.isShut, begun()]).toEqual([false, 12])
})

test("what a sampled turn calls is sampled even if there is no room", () => {
  const { samples } = setUp()
  const spans = CallSpans.of(undefined, samples) as CallSpans
  while (samples.take());
  const span = samples.begin({ kind: "turn", id, method: "say" }, undefined)
  const maker = { currentTurn: { span } }
  const nested = spans.ofCall({ id, maker } as unknown as ActorTarget, "say") as SampledSpan
  expect(nested.parentId).toBe(span.context.spanId)
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
