import namespace, {
  setInterval as ticks,
  setImmediate as turn,
  setTimeout as wait,
} from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

let uninstall: () => void
beforeAll(() => {
  uninstall = installAmbient(() => ManualWorld.current)
})
afterAll(() => uninstall())

test.each<[string, (delayMs: number, value: string) => Promise<unknown>]>([
  ["the named import", (delayMs, value) => wait(delayMs, value)],
  ["the default import", (delayMs, value) => namespace.setTimeout(delayMs, value)],
  ["the promisified global", (delayMs, value) => promisify(setTimeout)(delayMs, value)],
  ["the scheduler", async (delayMs, value) => (await namespace.scheduler.wait(delayMs)) ?? value],
])("%s waits for the world's time", async (_name, take) => {
  const world = new ManualWorld()
  const seen: unknown[] = []
  const promise = world.within(() => take(50, "done")).then((value) => seen.push(value))
  world.advance(49)
  await Promise.resolve()
  expect(seen).toEqual([])
  world.advance(1)
  await promise
  expect(seen).toEqual(["done"])
})

test("an immediate waits for a step of the world", async () => {
  const world = new ManualWorld()
  const promises = world.within(() => [
    turn("a"),
    promisify(setImmediate)("b"),
    namespace.scheduler.yield(),
    turn("c", { signal: new AbortController().signal }),
  ])
  world.runTasks()
  expect(await Promise.all(promises)).toEqual(["a", "b", undefined, "c"])
})

test("an interval yields every tick, including those that came before they were awaited", async () => {
  const world = new ManualWorld()
  const iterator = world.within(() => ticks(10, "tick")[Symbol.asyncIterator]())
  const first = world.within(() => iterator.next())
  world.advance(30)
  expect(await first).toEqual({ done: false, value: "tick" })
  expect(await iterator.next()).toEqual({ done: false, value: "tick" })
  expect(await iterator.next()).toEqual({ done: false, value: "tick" })
  const fourth = iterator.next()
  await Promise.resolve()
  world.advance(10)
  expect(await fourth).toEqual({ done: false, value: "tick" })
  expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
})

test("an aborted timer fails with Node's error", async () => {
  const world = new ManualWorld()
  const controller = new AbortController()
  const { signal } = controller
  const pending = world.within(() => [
    wait(5, 0, { signal }),
    turn(0, { signal }),
    namespace.scheduler.wait(5, { signal }),
    ticks(5, 0, { signal })[Symbol.asyncIterator]().next(),
  ])
  controller.abort("why")
  const late = world.within(() => [
    wait(5, 0, { signal }),
    turn(0, { signal }),
    ticks(5, 0, { signal })[Symbol.asyncIterator]().next(),
  ])
  world.advance(10)
  for (const promise of [...pending, ...late]) {
    await expect(promise).rejects.toMatchObject({ name: "AbortError", code: "ABORT_ERR", cause: "why" })
  }
})

test.each([null, "text", { signal: {} }, { ref: 1 }])("Node refuses %j for options", async (options) => {
  const world = new ManualWorld()
  for (const promise of world.within(() => [wait(1, 0, options as never), turn(0, options as never)])) {
    await expect(promise).rejects.toMatchObject({ code: "ERR_INVALID_ARG_TYPE" })
  }
})

test("AbortSignal.timeout uses the world's time", () => {
  const world = new ManualWorld()
  const signal = world.within(() => AbortSignal.timeout(1_000))
  world.advance(999)
  expect(signal.aborted).toBe(false)
  world.advance(1)
  expect(signal.aborted).toBe(true)
  expect(signal.reason).toMatchObject({ name: "TimeoutError", code: DOMException.TIMEOUT_ERR })
  expect(() => world.within(() => AbortSignal.timeout(-1))).toThrow(RangeError)
})

test("outside worlds they are Node's", async () => {
  expect(await wait(1, "a")).toBe("a")
  expect(await promisify(setTimeout)(1, "b")).toBe("b")
  expect(await turn("c")).toBe("c")
  await namespace.scheduler.wait(1)
  await namespace.scheduler.yield()
  for await (const tick of ticks(1, "d")) {
    expect(tick).toBe("d")
    break
  }
  const signal = AbortSignal.timeout(1)
  await new Promise((resolve) => signal.addEventListener("abort", resolve))
  expect(signal.reason).toMatchObject({ name: "TimeoutError" })
})
