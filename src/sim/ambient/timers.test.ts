import { AsyncLocalStorage } from "node:async_hooks"
import { nextTick } from "node:process"
import namespace, * as star from "node:timers"
import {
  clearTimeout as clear,
  clearImmediate as clearImmediately,
  clearInterval as clearRepeating,
  setImmediate as immediately,
  setInterval as repeat,
  setTimeout as set,
} from "node:timers"
import { expect, test as plainTest, vi } from "vitest"
import { ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

/**
 * A test with the interception, which is installed while it runs and no longer: whenever Vitest reports to its main
 * process it puts Node's `process.nextTick` back, and a tick later what was there before. Two reports within a tick put
 * Node's back for good.
 */
function test(name: string, body: () => void | Promise<void>): void {
  plainTest(name, intercepted(body))
}

test.each =
  <Row extends unknown[]>(rows: Row[]) =>
  (name: string, body: (...row: Row) => void): void =>
    plainTest.each(rows)(name, intercepted(body))

function intercepted<Row extends unknown[]>(body: (...row: Row) => void | Promise<void>) {
  return async (...row: Row) => {
    const uninstall = installAmbient(() => ManualWorld.current)
    try {
      await body(...row)
    } finally {
      uninstall()
    }
  }
}

const setTimeouts: [string, () => typeof setTimeout][] = [
  ["the global", () => setTimeout],
  ["the named import", () => set],
  ["the default import", () => namespace.setTimeout],
  ["the namespace", () => star.setTimeout],
]

test.each(setTimeouts)("%s setTimeout waits for the world's time", (_name, take) => {
  const world = new ManualWorld()
  const fired = vi.fn()
  const handle = world.within(() => take()(fired, 5, "a", 2))
  world.advance(4)
  expect(fired).not.toHaveBeenCalled()
  world.advance(1)
  world.advance(100)
  expect(fired.mock.calls).toEqual([["a", 2]])
  expect(fired.mock.contexts).toEqual([handle])
})

test.each<[string, () => typeof setInterval, () => typeof clearInterval]>([
  ["the global", () => setInterval, () => clearInterval],
  ["the named import", () => repeat, () => clearRepeating],
])("%s setInterval repeats until it is cleared, also by its own callback", (_name, take, takeClear) => {
  const world = new ManualWorld()
  const firedAt: number[] = []
  const handle = world.within(() =>
    take()(() => {
      firedAt.push(performance.now())
      if (firedAt.length === 3) takeClear()(handle)
    }, 10),
  )
  world.advance(100)
  expect(firedAt).toEqual([10, 20, 30])
})

test("an interval continues after an error", () => {
  const world = new ManualWorld()
  const fired = vi.fn(() => {
    throw new Error("on purpose")
  })
  world.within(() => setInterval(fired, 10))
  expect(() => world.advance(10)).toThrow("on purpose")
  expect(() => world.advance(10)).toThrow("on purpose")
  expect(fired).toHaveBeenCalledTimes(2)
})

test("immediates and microtasks are the world's, as globals and as imports", () => {
  const world = new ManualWorld()
  const order: unknown[] = []
  world.within(() => {
    setImmediate((...args) => order.push("setImmediate", ...args), 1)
    immediately(() => order.push("imported setImmediate"))
    queueMicrotask(() => order.push("queueMicrotask"))
    process.nextTick((...args: unknown[]) => order.push("nextTick", ...args), 2)
    nextTick(() => order.push("imported nextTick"))
  })
  expect(order).toEqual([])
  world.runTasks()
  const expected = [
    "setImmediate",
    1,
    "imported setImmediate",
    "queueMicrotask",
    "nextTick",
    2,
    "imported nextTick",
  ]
  expect(order).toEqual(expected)
})

test("delays are converted as in Node", () => {
  const world = new ManualWorld()
  const asked = vi.spyOn(world, "setTimer")
  for (const delay of [undefined, 0, -5, Number.NaN, 2 ** 31, 1.9, "7"]) {
    world.within(() => setTimeout(() => {}, delay as number))
  }
  expect(asked.mock.calls.map(([delayMs]) => delayMs)).toEqual([1, 1, 1, 1, 1, 1, 7])
})

test("Node refuses a callback that is not a function", () => {
  new ManualWorld().within(() => {
    for (const take of [setTimeout, setInterval, setImmediate, queueMicrotask, process.nextTick]) {
      expect(() => take("text" as never)).toThrow(expect.objectContaining({ code: "ERR_INVALID_ARG_TYPE" }))
    }
  })
})

test("a handle has all features of Node's", () => {
  const world = new ManualWorld()
  const fired = vi.fn()
  const handle = world.within(() => setTimeout(fired, 10))
  expect([handle.hasRef(), handle.unref().hasRef(), handle.ref().hasRef()]).toEqual([true, false, true])
  world.advance(6)
  expect(handle.refresh()).toBe(handle)
  world.advance(6)
  expect(fired).not.toHaveBeenCalled()
  world.advance(4)
  expect(fired).toHaveBeenCalledTimes(1)
  handle.refresh()
  handle[Symbol.dispose]()
  expect(handle.refresh().close()).toBe(handle)
  world.advance(100)
  expect(fired).toHaveBeenCalledTimes(1)

  const immediate = world.within(() => setImmediate(fired))
  expect([immediate.hasRef(), immediate.unref().hasRef(), immediate.ref().hasRef()]).toEqual([
    true,
    false,
    true,
  ])
  immediate[Symbol.dispose]()
  world.runTasks()
  expect(fired).toHaveBeenCalledTimes(1)
})

test("a handle can be cleared inside and outside worlds, in each way", () => {
  const world = new ManualWorld()
  const fired = vi.fn()
  for (const clearOne of [clearTimeout, clearInterval, clear, clearRepeating]) {
    const [first, second, third, fourth] = world.within(() => [0, 0, 0, 0].map(() => setTimeout(fired, 1)))
    world.within(() => clearOne(first))
    clearOne(second)
    world.within(() => clearOne(Number(third)))
    world.within(() => clearOne(String(Number(fourth))))
    const outside = setTimeout(fired, 0)
    world.within(() => clearOne(outside))
  }
  for (const clearOne of [clearImmediate, clearImmediately]) {
    const [first, second] = world.within(() => [setImmediate(fired), setImmediate(fired)])
    clearOne(first)
    world.within(() => clearOne(second))
  }
  world.within(() => [undefined, null, "x", 7, {}].map((handle) => clearTimeout(handle as never)))
  world.advance(10)
  expect(fired).not.toHaveBeenCalled()
})

test("the numbers of handles are the same in every world", () => {
  const numbers = () =>
    new ManualWorld().within(() => [Number(setTimeout(() => {}, 1)), +setInterval(() => {}, 1)])
  expect(numbers()).toEqual(numbers())
})

test("a timer runs in the async context in which it was set", () => {
  const world = new ManualWorld()
  const storage = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const see = () => seen.push(storage.getStore())
  storage.run("mine", () =>
    world.within(() => {
      setTimeout(see, 1)
      setImmediate(see)
      queueMicrotask(see)
      process.nextTick(see)
    }),
  )
  storage.run("another", () => world.advance(1))
  expect(seen).toEqual(["mine", "mine", "mine", "mine"])
})

test("outside worlds the timers are Node's", async () => {
  const order: string[] = []
  await new Promise<void>((resolve) => {
    const repeating = repeat(() => {
      // On a slow machine it is due before the first immediate.
      if (!order.includes("immediate")) return
      clearInterval(repeating)
      resolve()
    }, 1)
    expect(repeating.constructor.name).toBe("Timeout")
    setImmediate(() => order.push("immediate"))
    queueMicrotask(() => order.push("microtask"))
    nextTick((text: string) => order.push(text), "tick")
    clearTimeout(+setTimeout(() => order.push("cleared"), 0))
  })
  expect(order).toEqual(["microtask", "tick", "immediate"])
  expect(setTimeout).toBe(set)
  expect([setTimeout.name, setImmediate.name, clearTimeout.name]).toEqual([
    "setTimeout",
    "setImmediate",
    "clearTimeout",
  ])
})
