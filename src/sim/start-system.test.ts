import { expect, test } from "vitest"
import { Actor } from "../virtual/actor.js"
import { provide } from "../virtual/provide.js"
import { noFaults } from "./faults.js"
import { runSeed } from "./run-seed.js"
import { startSystem } from "./start-system.js"
import type { Workload } from "./workload.js"

/** A client of something outside, as one process of a machine has it. */
interface Client {
  readonly of: string
  readonly served: string[]
}

class Caller extends Actor<unknown, { readonly client: Client }> {
  static readonly type = "Caller"

  serve() {
    const { client } = this.dependencies
    client.served.push(this.key)
    return client.of
  }
}

test("each simulated process provides its own dependencies, also one that is booted again", async () => {
  const clients: Client[] = []
  const answers: string[] = []
  const workload: Workload = {
    name: "dependencies",
    about: "",
    faults: [],
    async run(stage) {
      const systems = new Map<string, Awaited<ReturnType<typeof startSystem>>>()
      for (const machine of ["a", "b"]) {
        stage.start(machine, async (life) => {
          const client = { of: machine, served: [] }
          clients.push(client)
          // Each machine is a cluster of its own.
          systems.set(
            machine,
            await startSystem(life, { namespace: machine, actors: [provide(Caller, { client })] }),
          )
        })
      }
      const serve = async (machine: string, key: string) => {
        while (!systems.has(machine)) await stage.sleep(10)
        answers.push(await stage.on(machine, () => systems.get(machine)?.actor(Caller, key).serve() ?? ""))
      }
      await serve("a", "first")
      await serve("b", "first")
      systems.delete("a")
      stage.crash("a")
      stage.boot("a")
      await serve("a", "second")
    },
  }
  const { failure, tail } = await runSeed(workload, 1, { faults: noFaults(), keepTrace: 30 })
  expect(failure, tail.join("\n")).toBeUndefined()
  expect(answers).toEqual(["a", "b", "a"])
  const servedBy = (machine: string) =>
    clients.filter((one) => one.of === machine).map(({ served }) => served)
  expect([servedBy("a"), servedBy("b")]).toEqual([[["first"], ["second"]], [["first"]]])
})
