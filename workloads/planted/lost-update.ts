import type { CounterInput, CounterOutput } from "../../src/sim/counter-model.js"
import {
  checkLinearizable,
  counter,
  History,
  type Life,
  type Stage,
  type Workload,
} from "../../src/sim/index.js"
import { processAndConnectionFaults } from "../fault-sets.js"
import { hostOf, Remote, serve, sleep, Unanswered } from "./calls.js"
import type { Version } from "./version.js"

/**
 * A server keeps a number; clients add to it by reading it and writing back one more. In the buggy version
 * the write goes through whatever happened since the read, so of two adds at once one is lost. The mended one
 * compares and sets.
 *
 * The server does not crash, for it has no disk.
 */
export function lostUpdate(version: Version): Workload {
  return {
    name: `lost-update-${version}`,
    about: "clients that read, add one, and write back",
    faults: processAndConnectionFaults,
    floors: { operations: 10, faults: 1 },
    async run(stage) {
      stage.start("server", keepNumber, { killable: false })
      const host = await hostOf(stage, "server")
      const clients = ["ann", "bob", "cid"].slice(0, stage.knob("clients", [2, 3]))
      for (const client of clients) stage.start(client, () => {})
      const history = new History<CounterInput, CounterOutput>()
      const adds = stage.knob("adds", [5, 10])
      await Promise.all(clients.map((client) => addMany(stage, history, { version, client, host, adds })))
      stage.calm()
      await readAtLast(stage, history, host)
      const verdict = checkLinearizable(history, counter())
      stage.always("adds are linearizable", verdict.kind === "linearizable", () =>
        verdict.kind === "violation" ? verdict.explanation.join("\n") : verdict.kind,
      )
    },
  }
}

type Request =
  | { readonly kind: "read" }
  | { readonly kind: "write"; readonly value: number }
  | { readonly kind: "compare-and-set"; readonly expected: number; readonly value: number }

interface Answer {
  readonly done: boolean
  readonly value: number
}

function keepNumber(life: Life): Promise<void> {
  let value = 0
  return serve<Request, Answer>(life, (request) => {
    if (request.kind === "compare-and-set" && request.expected !== value) return { done: false, value }
    if (request.kind !== "read") value = request.value
    return { done: true, value }
  })
}

interface Adding {
  readonly version: Version
  readonly client: string
  readonly host: string
  readonly adds: number
}

/** Adds one, again and again, with pauses in between, and records the outcome of each. */
async function addMany(
  stage: Stage,
  history: History<CounterInput, CounterOutput>,
  { version, client, host, adds }: Adding,
): Promise<void> {
  for (let count = 0; count < adds; count += 1) {
    await stage.sleep(stage.random.between(0, 3_000))
    const operation = history.invoke(client, "number", { kind: "add", amount: 1 })
    try {
      const value = await stage.on(client, (life) => addOne(life, host, version))
      history.ok(operation, { kind: "value", value })
      stage.operation()
      stage.sometimes("an add is answered")
    } catch {
      history.unknown(operation)
      stage.sometimes("nobody knows whether an add was done")
    }
  }
}

async function addOne(life: Life, host: string, version: Version): Promise<number> {
  const server = new Remote<Request, Answer>(life, host)
  for (;;) {
    const { value: expected } = await server.call({ kind: "read" }, CALL_MS)
    const value = expected + 1
    const { done } = await server.call(
      version === "buggy" ? { kind: "write", value } : { kind: "compare-and-set", expected, value },
      CALL_MS,
    )
    if (done) return value
    life.sometimes("somebody else was faster")
  }
}

async function readAtLast(
  stage: Stage,
  history: History<CounterInput, CounterOutput>,
  host: string,
): Promise<void> {
  const operation = history.invoke("workload", "number", { kind: "read" })
  const value = await stage.on("server", async (life) => {
    const server = new Remote<Request, Answer>(life, host)
    for (;;) {
      try {
        return (await server.call({ kind: "read" }, CALL_MS)).value
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error
        await sleep(life, 100)
      }
    }
  })
  history.ok(operation, { kind: "value", value })
}

const CALL_MS = 2_000
