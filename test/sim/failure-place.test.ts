import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { noFaults, runSeed, type SeedFailure, type Stage, startSystem } from "../../src/sim/index.js"

async function failureOf(run: (stage: Stage) => Promise<void>): Promise<SeedFailure | undefined> {
  const workload = { name: "place", about: "", limits: { stepsAtOneInstant: 1_000 }, run }
  const { failure } = await runSeed(workload, 1, { faults: noFaults() })
  return failure
}

/** The file and line of the only line of this file that ends with the mark. */
function lineMarked(mark: string): string {
  const lines = readFileSync(import.meta.filename, "utf8").split("\n")
  const marked = lines.flatMap((line, index) => (line.endsWith(`// ${mark}`) ? [index + 1] : []))
  expect(marked, mark).toHaveLength(1)
  return `${import.meta.filename}:${marked[0]}`
}

const cases: Record<string, (stage: Stage) => Promise<void>> = {
  async "an assertion of the workload"(stage) {
    await stage.sleep(1)
    stage.always("it holds", false) // an assertion of the workload
  },
  async "an assertion of a life"(stage) {
    stage.start("alpha", async (life) => {
      await life.ports.network.listen({ host: life.host, port: 1 }, () => {})
      life.always("it holds", false) // an assertion of a life
    })
    await stage.sleep(1_000)
  },
  async "an invariant"(stage) {
    stage.invariant("it holds", () => "it does not") // an invariant
    stage.start("alpha", (life) => life.record({ kind: "event" }))
    await stage.sleep(1_000)
  },
  async "an invariant that throws"(stage) {
    stage.invariant("it holds", () => {
      throw new Error("broken") // an invariant that throws
    })
    stage.record({ kind: "event" })
    await stage.sleep(1_000)
  },
  async "an error of a program"(stage) {
    stage.start("alpha", async () => {
      await Promise.resolve()
      throw new Error("broken") // an error of a program
    })
    await stage.sleep(1_000)
  },
  async "an error without a stack"(stage) {
    stage.start("alpha", () => Promise.reject("broken")) // an error without a stack
    await stage.sleep(1_000)
  },
  async "a start that the store fails"(stage) {
    const store = stage.store()
    stage.start("alpha", async (life) => {
      store.cutOff("alpha")
      await startSystem(life, { namespace: "place", store: store.provider(life) }) // a start that the store fails
    })
    await stage.sleep(40_000)
  },
  async "a task that the store fails"(stage) {
    const store = stage.store()
    stage.start("alpha", () => {})
    store.cutOff("alpha")
    const task = stage.on("alpha", (life) => store.provider(life).open("place", life.ports)) // a task that the store fails
    await task
  },
  async "a process that dies"(stage) {
    stage.start("alpha", () => {})
    const task = stage.on("alpha", () => new Promise(() => {})) // a process that dies
    stage.crash("alpha")
    await task
  },
  async "a deadlock"(stage) {
    stage.start("alpha", () => {})
    await stage.on("alpha", () => new Promise(() => {})) // a deadlock
  },
  async "an endless loop"(stage) {
    const again = () => void setImmediate(again)
    stage.start("alpha", again) // an endless loop
    await stage.sleep(1_000)
  },
  async "a forbidden call"(stage) {
    stage.start("alpha", () => void connect(1)) // a forbidden call
    await stage.sleep(1_000)
  },
  async "a cause"(stage) {
    const wrapped = new Error("broken") // a cause
    const outer = new Error("outer", { cause: wrapped })
    outer.stack = "Error: outer\n    at node:internal/timers:1:1"
    await stage.sleep(1)
    throw outer
  },
}

test.each(Object.keys(cases))("%s leads to the line of the user", async (name) => {
  const failure = await failureOf(cases[name] as (stage: Stage) => Promise<void>)
  expect(failure?.at, JSON.stringify(failure)).toBe(lineMarked(name))
})

test("a start that the store fails says what to do", async () => {
  const failure = await failureOf(cases["a start that the store fails"] as (stage: Stage) => Promise<void>)
  expect(failure?.what).toBe("uncaught")
  expect(failure?.detail).toContain(
    "did not answer in time; to wait longer set joinMs; the system has not started: retry startSystem",
  )
})

test("a failure names no line if no code of the user is involved", async () => {
  const failure = await failureOf(() => new Promise(() => {}))
  expect(failure?.what).toBe("deadlock")
  expect(failure).not.toHaveProperty("at")
})

test("frames of packages are skipped, unless there are no others", async () => {
  const thrown = (stack: string) =>
    failureOf(async () => {
      throw Object.assign(new Error("broken"), { stack: `Error: broken\n${stack}` })
    })
  const [inPackage, own] = [
    "    at a (/app/node_modules/x/a.js:1:2)",
    "    at async b (file:///app/b%20c.ts:3:4)",
  ]
  expect((await thrown(`${inPackage}\n${own}`))?.at).toBe("/app/b c.ts:3")
  expect((await thrown(inPackage))?.at).toBe("/app/node_modules/x/a.js:1")
})
