import { expect, test } from "vitest"
import { Actor, type ActorSystem, oneWay, withOptions } from "../../src/index.js"
import { noFaults, runSeed, startSystem, type Workload } from "../../src/sim/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { startNode } from "../remote/nodes.js"
import { until } from "../remote/support/until.js"

const noted: number[] = []

class Ledger extends Actor {
  static readonly type = "Ledger"

  note(entry: number) {
    noted.push(entry)
  }
}

test("calls that wait for a connection run in order, even after the first was returned and retried", async () => {
  noted.length = 0
  const workload: Workload = {
    name: "order-kept",
    about: "",
    faults: [],
    async run(stage) {
      const systems = new Map<string, ActorSystem>()
      for (const machine of ["caller", "host"]) {
        stage.start(machine, async (life) => {
          const system = await startSystem(life, {
            namespace: "test",
            actors: machine === "host" ? [Ledger] : [],
            listen: { host: life.host, port: 4_000, secret: "0123456789abcdef" },
            store: stage.store().provider(life),
          })
          systems.set(machine, system)
        })
      }
      while (systems.size < 2) await stage.sleep(50)
      await stage.sleep(500)
      const cuts = [stage.cut("caller", "host"), stage.cut("host", "caller")]
      await stage.sleep(60_000)
      const calls: Promise<unknown>[] = []
      const call = (entry: number) =>
        stage.on("caller", () => {
          const ledger = (systems.get("caller") as ActorSystem).actor(Ledger, "l")
          calls.push(withOptions(ledger, { timeoutMs: 120_000 }).note(entry))
        })
      await call(1)
      await stage.sleep(20_000)
      await call(2)
      // After 30 s a message that waits for a connection is returned; its call is then retried.
      await stage.sleep(15_000)
      for (const heal of cuts) heal()
      await Promise.all(calls)
    },
  }
  const { failure, tail } = await runSeed(workload, 1, { faults: noFaults(), keepTrace: 30 })
  expect(failure, tail.join("\n")).toBeUndefined()
  expect(noted).toEqual([1, 2])
})

class Echo extends Actor<number> {
  static readonly type = "Echo"
  readonly heard: number[] = []

  echo(value: number, _text: string) {
    this.heard.push(value)
  }

  all() {
    return this.heard
  }
}

test("with drop-oldest, the calls of one caller to one actor still run in order", async () => {
  const store = memoryStore()
  await startNode({ store, actors: [Echo] })
  const outboundBuffer = { bytes: 256 * 1024, overflow: "drop-oldest" } as const
  const { system } = await startNode({ store, outboundBuffer })
  await until("there is a host", () => system.cluster.hosting("Echo").length === 1)
  const echo = system.actor(Echo, "one")
  await echo.all()
  const text = "x".repeat(4_000)
  for (let value = 0; value < 2_000; value += 1) oneWay(echo).echo(value, text)
  const heard = await echo.all()
  expect(heard).toEqual([...heard].sort((one, other) => one - other))
  expect(heard.length).toBeGreaterThan(1_000)
})
