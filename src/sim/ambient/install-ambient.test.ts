import childProcess from "node:child_process"
import crypto, { randomInt } from "node:crypto"
import dns from "node:dns"
import fs, { readFileSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import http from "node:http"
import { createRequire } from "node:module"
import net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import perfHooks from "node:perf_hooks"
import timers, { setTimeout as set } from "node:timers"
import timerPromises from "node:timers/promises"
import workerThreads from "node:worker_threads"
import zlib from "node:zlib"
import { expect, onTestFinished, test } from "vitest"
import { Forbidden, ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

function install(current = () => ManualWorld.current): () => void {
  const uninstall = installAmbient(current)
  onTestFinished(uninstall)
  return uninstall
}

const places: Record<string, object> = {
  globalThis,
  Math,
  Date,
  "Date.prototype": Date.prototype,
  "Intl.DateTimeFormat.prototype": Intl.DateTimeFormat.prototype,
  AbortSignal,
  Atomics,
  "Blob.prototype": Blob.prototype,
  "Event.prototype": Event.prototype,
  perfHooks,
  "performance's prototype": Object.getPrototypeOf(performance),
  process,
  "process.hrtime": process.hrtime,
  "process.stdout": process.stdout,
  "process.stderr": process.stderr,
  crypto,
  "webcrypto's prototype": Object.getPrototypeOf(crypto.webcrypto),
  "subtle's prototype": Object.getPrototypeOf(crypto.subtle),
  timers,
  timerPromises,
  "scheduler's prototype": Object.getPrototypeOf(timerPromises.scheduler),
  fs,
  "fs.promises": fs.promises,
  net,
  "net.Socket.prototype": net.Socket.prototype,
  http,
  dns,
  childProcess,
  workerThreads,
  zlib,
}

test("restores the process", () => {
  const before = descriptors()
  const uninstall = install()
  const during = descriptors()
  uninstall()
  expect(changed(before, descriptors())).toEqual([])
  expect(changed(before, during)).toEqual(
    expect.arrayContaining([
      "globalThis Date",
      "Math random",
      "process nextTick",
      "Event.prototype timeStamp",
      "perfHooks PerformanceMark",
      "fs readFileSync",
      "timers setTimeout",
    ]),
  )
})

test("changes existing imports, and restores them", async () => {
  const before = [set, randomInt, readFileSync]
  // A module that the test runner does not load itself, so that it has Node's own live bindings.
  const text = `import { setTimeout, clearTimeout } from "node:timers"; import { randomInt } from "node:crypto";
    export default () => [setTimeout, clearTimeout, randomInt]`
  const native = await import(`data:text/javascript,${encodeURIComponent(text)}`)
  const nativeBefore = native.default()
  const uninstall = install()
  expect(set).not.toBe(before[0])
  expect(set).toBe(globalThis.setTimeout)
  expect(native.default()).toEqual([timers.setTimeout, timers.clearTimeout, crypto.randomInt])
  expect(native.default()).not.toEqual(nativeBefore)
  uninstall()
  expect([set, randomInt, readFileSync]).toEqual(before)
  expect(native.default()).toEqual(nativeBefore)
})

test("stays until every installer has removed it", () => {
  const real = Date
  const world = new ManualWorld({ beganAtMs: 5 })
  const first = install()
  const second = install()
  const installed = Date
  expect(installed).not.toBe(real)
  first()
  first()
  expect(Date).toBe(installed)
  expect(world.within(() => Date.now())).toBe(5)
  second()
  expect(Date).toBe(real)
  expect(world.within(() => Date.now())).toBeGreaterThan(5)
  install()
  expect(world.within(() => Date.now())).toBe(5)
})

test("asks the last installer first", () => {
  let outer: ManualWorld | undefined
  let inner: ManualWorld | undefined
  install(() => outer)
  const uninstall = install(() => inner)
  outer = new ManualWorld({ beganAtMs: 1 })
  expect(Date.now()).toBe(1)
  inner = new ManualWorld({ beganAtMs: 2 })
  expect(Date.now()).toBe(2)
  uninstall()
  expect(Date.now()).toBe(1)
})

test("a function that is kept after the uninstall behaves as Node's own", () => {
  const uninstall = install()
  const { setTimeout, Date: KeptDate } = globalThis
  uninstall()
  const world = new ManualWorld({ beganAtMs: 5 })
  expect(world.within(() => KeptDate.now())).toBeGreaterThan(5)
  const handle = world.within(() => setTimeout(() => {}, 1))
  expect(handle.constructor.name).toBe("Timeout")
  clearTimeout(handle)
})

test("keeps a replacement that other code has made", () => {
  const { random } = Math
  onTestFinished(() => {
    Math.random = random
  })
  const uninstall = install()
  const fake = () => 0.5
  Math.random = fake
  uninstall()
  expect(Math.random).toBe(fake)
})

test("worlds that take turns are independent", () => {
  install()
  const worlds = [1, 2].map((seed) => new ManualWorld({ seed, beganAtMs: seed * 1_000 }))
  const alone = [1, 2].map((seed) => {
    const world = new ManualWorld({ seed })
    return Array.from({ length: 4 }, () => world.within(() => Math.random()))
  })
  const fired: string[] = []
  const together: number[][] = [[], []]
  for (let round = 0; round < 4; round++) {
    for (const [at, world] of worlds.entries()) {
      world.within(() => {
        together[at]?.push(Math.random())
        setTimeout(() => fired.push(`${at} at ${Date.now()}`), 10)
      })
      world.advance(at + 4)
    }
  }
  expect(together).toEqual(alone)
  expect(fired).toEqual(["1 at 2010", "0 at 1010", "1 at 2015", "0 at 1014", "1 at 2020"])
})

test("modules can be loaded in a world, by Node and by the test runner", async () => {
  install()
  const folder = await mkdtemp(join(tmpdir(), "ambient-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write("inner.cjs", "exports.inner = 1")
  write(
    "outer.cjs",
    `exports.inner = require('./inner.cjs').inner
     exports.load = () => import('./outer.mjs')
     exports.read = () => require('fs').readFileSync(__filename)`,
  )
  write("inner.mjs", "export const inner = 1")
  write("outer.mjs", "export { inner } from './inner.mjs'; import './inner.cjs'")
  const world = new ManualWorld()
  const require = createRequire(import.meta.url)
  const outer = world.within(() => require(join(folder, "outer.cjs")))
  expect(outer.inner).toBe(1)
  expect(await world.within(() => outer.load())).toHaveProperty("inner", 1)
  expect(await world.within(() => import("../../runtime/no-telemetry.js"))).toHaveProperty("noTelemetry")
  expect(() => world.within(() => outer.read())).toThrow(
    expect.objectContaining({ what: "fs.readFileSync", caller: `${join(folder, "outer.cjs")}:3` }),
  )
})

test("code in a world may write to the output, without feedback", () => {
  install()
  const world = new ManualWorld()
  const order: unknown[] = []
  world.within(() => {
    console.log("a line of a test, from inside of a world")
    expect(process.stderr.write("")).toBe(true)
    expect(process.stdout.write("", "utf8", () => order.push("written"))).toBe(true)
    expect(process.stdout.write("", (...args) => order.push("written", ...args))).toBe(true)
  })
  expect(order).toEqual([])
  world.runTasks()
  expect(order).toEqual(["written", "written"])
})

test("the error that a world returns is thrown unchanged", () => {
  install()
  const world = new ManualWorld()
  const made = new Forbidden("x", "y")
  world.forbidden = () => made
  expect(() => world.within(() => readFileSync("x"))).toThrow(made)
})

function descriptors(): Map<string, PropertyDescriptor> {
  return new Map(
    Object.entries(places).flatMap(([name, place]) =>
      Reflect.ownKeys(place).map((key) => [
        `${name} ${String(key)}`,
        Object.getOwnPropertyDescriptor(place, key) as PropertyDescriptor,
      ]),
    ),
  )
}

function changed(before: Map<string, PropertyDescriptor>, after: Map<string, PropertyDescriptor>): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const parts = ["value", "get", "set", "writable", "enumerable", "configurable"] as const
  // Counters that the streams keep themselves.
  const own = names.filter((name) => !/^process\.std/.test(name) || name.endsWith(" write"))
  return own.filter(
    (name) => !parts.every((part) => Object.is(before.get(name)?.[part], after.get(name)?.[part])),
  )
}
