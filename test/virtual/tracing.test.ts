import { expect, test } from "vitest"
import { Actor, oneWay, type Span, type SpanOptions, type Telemetry } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { startNode } from "../remote/nodes.js"
import { until } from "../remote/support/until.js"

class Near extends Actor {
  static readonly type = "Near"

  async question() {
    return await this.actor<Far>("Far", "b").answer()
  }
}

class Far extends Actor {
  static readonly type = "Far"

  answer() {
    return 42
  }

  fail() {
    throw new RangeError("not today")
  }
}

/** Records spans as text: `name < parent`, and the error if they failed. */
class Recorder {
  readonly spans: string[] = []
  readonly telemetry: Telemetry = {
    counter: () => ({ add: () => {} }),
    histogram: () => ({ record: () => {} }),
    span: (name, options) => this.#span(name, options),
  }
  static #made = 0
  static readonly #names = new Map<string, string>()

  #span(name: string, { parent }: SpanOptions = {}): Span {
    Recorder.#made += 1
    const spanId = Recorder.#made.toString(16).padStart(16, "0")
    Recorder.#names.set(spanId, name)
    const from = parent === undefined ? "" : ` < ${Recorder.#names.get(parent.spanId)}`
    let failed = ""
    return {
      context: { traceId: parent?.traceId ?? spanId.padStart(32, "a"), spanId, sampled: true },
      set: () => {},
      fail: (error) => {
        failed = ` failed: ${(error as Error).message}`
      },
      end: () => this.spans.push(`${name}${from}${failed}`),
    }
  }
}

test("a call carries the span that it was made in, from node to node", async () => {
  const store = memoryStore()
  const near = new Recorder()
  const far = new Recorder()
  const a = await startNode({ store, actors: [Near], telemetry: near.telemetry })
  await startNode({ store, actors: [Far], telemetry: far.telemetry })
  await until("the other node is known", () => a.system.cluster.hosting("Far").length === 1)
  expect(await a.system.actor(Near, "a").question()).toBe(42)
  expect(near.spans).toEqual([
    "call Far.answer < Near.question",
    "Near.question < call Near.question",
    "call Near.question",
  ])
  expect(far.spans).toEqual(["Far.answer < call Far.answer"])
  await expect(a.system.actor<Far>("Far", "b").fail()).rejects.toThrow("not today")
  expect(near.spans.at(-1)).toBe("call Far.fail failed: not today")
  expect(far.spans.at(-1)).toBe("Far.fail < call Far.fail failed: not today")
})

const fails = (): never => {
  throw new Error("the adapter is broken")
}

test.each<[string, Telemetry]>([
  ["throws at every call", { counter: fails, histogram: fails, span: fails }],
  ["returns no spans", { counter: fails, histogram: fails, span: () => undefined as never }],
  [
    "returns spans that throw",
    {
      counter: fails,
      histogram: fails,
      span: () => ({ context: undefined, set: fails, fail: fails, end: fails }),
    },
  ],
  [
    "returns spans that cannot be read",
    { counter: fails, histogram: fails, span: () => new Proxy({} as never, { get: fails }) },
  ],
])("an adapter that %s does not affect calls", async (_what, telemetry) => {
  const store = memoryStore()
  const a = await startNode({ store, actors: [Near], telemetry })
  await startNode({ store, actors: [Far], telemetry })
  await until("both see both", () => a.system.cluster.members.length === 2)
  const near = a.system.actor(Near, "a")
  const far = a.system.actor(Far, "b")
  for (let round = 0; round < 3; round += 1) {
    expect(await near.question()).toBe(42)
    expect(await far.answer()).toBe(42)
    await expect(far.fail()).rejects.toThrow("not today")
    oneWay(far).answer()
  }
  expect(await a.system.actor(Near, "c").question()).toBe(42)
})
