import { describe, expect, it } from "vitest"
import { Actor, type CallError, withOptions } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { startNode } from "../remote/nodes.js"
import { notice, until } from "../remote/support/until.js"
import { Gate } from "./scene.js"

let hold = new Gate()

class Echo extends Actor<number> {
  static readonly type = "Echo"
  static readonly methods = { held: { alwaysInterleave: true } }
  #calls = 0

  async echo(value: number) {
    if (value % 3 === 0) await Promise.resolve()
    if (value % 7 === 0) throw new RangeError(`${value} is a multiple of 7`)
    return value
  }

  async held(value: number) {
    await hold.promise
    return value
  }

  nth() {
    this.#calls += 1
    return this.#calls
  }
}

async function pair() {
  hold = new Gate()
  const shared = { store: memoryStore(), lease: { deathProof: false }, actors: [Echo] }
  const nodes = [await startNode(shared), await startNode(shared)] as const
  await until("both see both", () => nodes.every(({ system }) => system.cluster.members.length === 2))
  return nodes
}

describe("a thousand concurrent calls, local and remote", () => {
  it("each get their own answer or error", async () => {
    const nodes = await pair()
    const ends = new Map<number, number>()
    const calls = Array.from({ length: 1_000 }, async (_, value) => {
      const { system } = nodes[value % 2 === 0 ? 0 : 1]
      const answer = await system
        .actor(Echo, `e${value % 20}`)
        .echo(value)
        .catch((error: Error) => error.message)
      expect(answer).toBe(value % 7 === 0 ? `${value} is a multiple of 7` : value)
      ends.set(value, (ends.get(value) ?? 0) + 1)
    })
    await Promise.all(calls)
    expect(ends.size).toBe(1_000)
  })

  it("each end once, even if answer, abort and timeout coincide", async () => {
    const nodes = await pair()
    let resolved = 0
    const kinds = new Map<string, number>()
    const controller = new AbortController()
    const calls = Array.from({ length: 600 }, async (_, value) => {
      const handle = nodes[0].system.actor(Echo, `e${value % 20}`)
      const options =
        value % 3 === 0 ? { timeoutMs: 150 } : value % 3 === 1 ? { signal: controller.signal } : {}
      const end = await withOptions(handle, options)
        .held(value)
        .then(
          (answer) => (answer === value ? "answered" : "wrong answer"),
          (error: CallError) => error.code,
        )
      resolved += 1
      notice()
      kinds.set(end, (kinds.get(end) ?? 0) + 1)
    })
    await until("the time-outs are over", () => resolved === 200)
    controller.abort()
    await until("the aborts are over", () => resolved === 400)
    hold.open()
    await Promise.all(calls)
    expect(Object.fromEntries(kinds)).toEqual({
      Timeout: 200,
      Cancelled: 200,
      answered: 200,
    })
    // The late answers are ignored: later calls get their own answers.
    expect(await nodes[0].system.actor(Echo, "e1").echo(5)).toBe(5)
  })

  it("of one caller to one actor run in order", async () => {
    const nodes = await pair()
    for (const { system } of nodes) {
      for (const key of ["a", "b", "c", "d"]) {
        const echo = system.actor(Echo, key)
        const first = await echo.nth()
        const rest = await Promise.all(Array.from({ length: 200 }, () => echo.nth()))
        expect(rest).toEqual(Array.from({ length: 200 }, (_, index) => first + 1 + index))
      }
    }
  })
})
