import { beforeEach, expect, test } from "vitest"
import { Actor, ActorsLeftBehind } from "../../src/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { settle } from "../fake/manual-clock.js"
import { Gate, outcome, scenes } from "./scene.js"

const scene = scenes()

let hangs = true
let late = new Gate()
let aborted: string[] = []

beforeEach(() => {
  hangs = true
  late = new Gate()
  aborted = []
})

class Sticky extends Actor {
  static readonly type: string = "Sticky"

  token() {
    return this.fencingToken
  }

  end() {
    this.deactivate()
  }

  protected override onDeactivate() {
    if (!hangs) return undefined
    this.signal.addEventListener("abort", () => aborted.push(this.key))
    return late.promise
  }
}

/** An actor whose turns may overlap, so that its hook runs in its own context. */
class StickyReader extends Sticky {
  static override readonly type = "StickyReader"
  static readonly methods = { token: { readOnly: true } }
}

function warnings(log: readonly string[]) {
  return log.filter((line) => line.includes("onDeactivate"))
}

test.each([[Sticky], [StickyReader]])(
  "an onDeactivate that hangs is given up after the timeout of a call, and the actor can be called again",
  async (Class) => {
    const { system, clock, lives, log, logFields } = await scene([Class], { requestTimeoutMs: 2_000 })
    const sticky = system.actor(Class, "k")
    const first = await sticky.token()
    await sticky.end()
    await clock.advance(1_500)
    const waiting = sticky.token()
    expect(await outcome(waiting)).toBe("pending")
    await clock.advance(1_000)
    expect(await outcome(waiting)).toBeGreaterThan(first)
    expect(lives).toContain("k@1 invalid")
    expect(aborted).toEqual(["k"])
    expect(warnings(log)).toEqual(["warn onDeactivate did not end in time; the actor ends without it"])
    expect(logFields[log.indexOf(warnings(log)[0] as string)]).toMatchObject({
      actor: `${Class.type}/k`,
      reason: "asked",
      timeoutMs: 2_000,
    })
    // The outcome of the hook is ignored from now on.
    late.fail(new Error("too late"))
    await settle()
    expect(warnings(log)).toHaveLength(1)
    hangs = false
  },
)

test("the hook of a fenced activation is given up too", async () => {
  const { system, clock, activation, log } = await scene([Sticky], { requestTimeoutMs: 2_000 })
  await system.actor(Sticky, "k").token()
  activation("Sticky", "k")?.tenure.end("ended by the test")
  await clock.advance(1_500)
  expect(ActorSystem.actorsOf(system)?.catalog.isIdle).toBe(false)
  await clock.advance(1_000)
  expect(ActorSystem.actorsOf(system)?.catalog.isIdle).toBe(true)
  expect(warnings(log)).toHaveLength(1)
})

test("a stop does not wait longer for a hook that hangs", async () => {
  const { system, clock, log } = await scene([Sticky], { requestTimeoutMs: 2_000, drainMs: 60_000 })
  const leftBehind: ActorsLeftBehind[] = []
  system.events.subscribe(ActorsLeftBehind, (event) => leftBehind.push(event))
  await system.actor(Sticky, "k").token()
  const stopped = system.stop()
  await clock.advance(1_500)
  expect(await outcome(stopped)).toBe("pending")
  await clock.advance(1_500)
  expect(await outcome(stopped)).toBe(undefined)
  expect(warnings(log)).toHaveLength(1)
  expect(leftBehind).toEqual([])
})
