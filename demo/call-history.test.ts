import { describe, expect, it } from "vitest"
import { Timings } from "../tools/latencies.js"
import { CallHistory } from "./call-history.js"

describe("the history of calls", () => {
  it("has a rate for each step, by the time that it took, and the marks", () => {
    const { history, pass } = begun()
    pass(100, 30)
    history.mark("k")
    pass(300, 3)
    pass(100, 0)
    expect(history.steps).toEqual([
      { callsPerSecond: 300, mark: undefined },
      { callsPerSecond: 10, mark: "k" },
      { callsPerSecond: 0, mark: undefined },
    ])
  })

  it("has the rate and the latencies of the last second", () => {
    const { history, pass } = begun()
    pass(900, 9)
    expect(history.recent).toMatchObject({ perSecond: 0, latencies: { count: 0 } })
    pass(100, 1)
    expect(history.recent).toMatchObject({ perSecond: 10, latencies: { count: 10 } })
    pass(2_000, 4)
    expect(history.recent).toMatchObject({ perSecond: 2, latencies: { count: 4 } })
  })

  it("forgets what is older than the widest terminal shows", () => {
    const { history, pass } = begun()
    for (let step = 1; step <= 601; step += 1) pass(1_000, step)
    expect(history.steps).toHaveLength(600)
    expect(history.steps[0]).toMatchObject({ callsPerSecond: 2 })
  })
})

function begun() {
  const [history, calls] = [new CallHistory(), new Timings()]
  let nowMs = 0
  const pass = (ms: number, count: number) => {
    nowMs += ms
    for (let call = 0; call < count; call += 1) calls.add(1)
    history.step(calls, nowMs)
  }
  return { history, pass }
}
