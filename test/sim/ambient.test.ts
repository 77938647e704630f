import { pbkdf2, randomBytes, randomInt, randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { connect } from "node:net"
import { performance as hooks } from "node:perf_hooks"
import { setTimeout as named } from "node:timers"
import { setImmediate as pass, setTimeout as wait } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { expect, test } from "vitest"
import { type Life, noFaults, runSeed, type Stage } from "../../src/sim/index.js"

async function inWorld<T>(task: (life: Life, stage: Stage) => T | Promise<T>, seed = 1): Promise<T> {
  const answers: T[] = []
  const { failure } = await runSeed(
    {
      name: "ambient",
      about: "",
      async run(stage) {
        stage.start("alpha", () => {})
        answers.push(await stage.on("alpha", (life) => task(life, stage)))
      },
    },
    seed,
    { faults: noFaults() },
  )
  expect(failure).toBeUndefined()
  return answers[0] as T
}

test("the clocks of the globals are the machine's", async () => {
  await inWorld(async ({ ports: { clock } }) => {
    for (let round = 0; round < 3; round += 1) {
      expect(Date.now()).toBe(clock.wallMs())
      expect(new Date().getTime()).toBe(clock.wallMs())
      expect(new Date().getUTCFullYear()).toBe(2030)
      expect(performance.now()).toBe(clock.monotonicMs())
      expect(hooks.now()).toBe(clock.monotonicMs())
      expect(Number(process.hrtime.bigint()) / 1e6).toBeCloseTo(clock.monotonicMs(), 2)
      const [seconds, rest] = process.hrtime()
      expect(seconds * 1_000 + rest / 1e6).toBeCloseTo(clock.monotonicMs(), 2)
      await wait(1_234)
    }
  })
})

test("timers wait for the world's time, under all of their names", async () => {
  await inWorld(async ({ ports: { clock } }) => {
    const hour = 3_600_000 / 2
    const took = async (begin: (done: () => void) => void) => {
      const begun = clock.monotonicMs()
      await new Promise<void>(begin)
      return Math.round(clock.monotonicMs() - begun)
    }
    expect(await took((done) => setTimeout(done, hour))).toBe(hour)
    expect(await took((done) => named(done, 20))).toBe(20)
    expect(await took((done) => void wait(30).then(done))).toBe(30)
    expect(await took((done) => setImmediate(done))).toBe(0)
    expect(await took((done) => void pass().then(done))).toBe(0)
    expect(await took((done) => process.nextTick(done))).toBe(0)
    expect(await took((done) => queueMicrotask(done))).toBe(0)
    expect(await took((done) => AbortSignal.timeout(40).addEventListener("abort", done))).toBe(40)
    let ticks = 0
    const ticking = (done: () => void) => {
      const interval = setInterval(() => {
        ticks += 1
        if (ticks < 3) return
        clearInterval(interval)
        done()
      }, 100)
    }
    expect(await took(ticking)).toBe(300)
    await wait(1_000)
    expect(ticks).toBe(3)
  })
})

test("a timer that was cleared by its handle or number, in this step or later, does not fire", async () => {
  await inWorld(async () => {
    const fired: string[] = []
    const handle = setTimeout(() => fired.push("handle"), 10)
    const number = Number(setTimeout(() => fired.push("number"), 10))
    const sameStep = Number(setTimeout(() => fired.push("same step"), 10))
    clearTimeout(sameStep)
    await wait(1)
    clearTimeout(handle)
    clearTimeout(number)
    await wait(20)
    expect(fired).toEqual([])
  })
})

test("random values come from the seed: equal for the same seed, different for another", async () => {
  const draw = (seed: number) =>
    inWorld(
      () => [
        Math.random(),
        randomUUID(),
        crypto.randomUUID(),
        crypto.getRandomValues(new Uint32Array(4)).join(),
        randomInt(1_000_000),
        randomBytes(8).toString("hex"),
      ],
      seed,
    )
  const first = await draw(1)
  expect(await draw(1)).toEqual(first)
  const other = await draw(2)
  for (const [index, value] of first.entries()) expect(other[index]).not.toBe(value)
})

test("timers end with the process that set them", async () => {
  const ticks: string[] = []
  const { failure } = await runSeed(
    {
      name: "ambient",
      about: "",
      async run(stage) {
        stage.start("alpha", ({ name }) => void setInterval(() => ticks.push(name), 100))
        await stage.sleep(250)
        stage.crash("alpha")
        await stage.sleep(1_000)
        stage.boot("alpha")
        await stage.sleep(150)
      },
    },
    1,
    { faults: noFaults() },
  )
  expect(failure).toBeUndefined()
  expect(ticks).toEqual(["alpha", "alpha", "alpha.2"])
})

const outside: Record<string, () => unknown> = {
  "fs.readFileSync": () => readFileSync("x"),
  "fs.promises.readFile": () => readFile("x"),
  "net.connect": () => connect(1),
  fetch: () => fetch("http://localhost"),
  "worker_threads.Worker": () => new Worker("x"),
  "crypto.pbkdf2": () => pbkdf2("x", "x", 1, 1, "sha1", () => {}),
  "crypto.subtle.digest": () => crypto.subtle.digest("SHA-256", new Uint8Array()),
}

test.each(Object.keys(outside))(
  "%s fails the run, even if the error is caught, and the caller is named",
  async (what) => {
    const { failure } = await runSeed(
      {
        name: "ambient",
        about: "",
        async run(stage) {
          stage.start("alpha", () => {
            try {
              outside[what]?.()
            } catch {
              // As a program might that has a fallback.
            }
          })
          await stage.sleep(1)
        },
      },
      1,
      { faults: noFaults() },
    )
    expect(failure?.what).toBe("forbidden")
    expect(failure?.detail).toContain(`${what} is not available`)
    expect(failure?.detail).toMatch(/it was called at .*test\/sim\/ambient\.test\.ts:\d+$/)
  },
)

test("outside the world everything is Node's again", async () => {
  await inWorld(() => Date.now())
  expect(Math.abs(Date.now() - performance.timeOrigin - performance.now())).toBeLessThan(60_000)
  expect(new Date().getUTCFullYear()).not.toBe(2030)
  expect(readFileSync(import.meta.filename, "utf8")).toContain("Node's again")
})
