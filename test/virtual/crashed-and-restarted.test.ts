import { expect, test } from "vitest"
import { Actor, type ActorSystem } from "../../src/index.js"
import { noFaults, runSeed, startSystem, type Workload } from "../../src/sim/index.js"

class Counter extends Actor<number> {
  static readonly type = "Counter"

  protected override initialState() {
    return 0
  }

  async add() {
    this.state += 1
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    await this.save()
    return this.state
  }
}

test("after a crash, calls are answered by the next process at the same address", async () => {
  const answers: unknown[] = []
  const workload: Workload = {
    name: "crashed-and-restarted",
    about: "",
    faults: [],
    async run(stage) {
      const systems = new Map<string, ActorSystem>()
      for (const machine of ["host", "client"]) {
        stage.start(machine, async (life) => {
          const system = await startSystem(life, {
            namespace: "test",
            actors: machine === "host" ? [Counter] : [],
            listen: { host: life.host, port: 4_000, secret: "0123456789abcdef" },
            store: stage.store().provider(life),
            // As between hosts: only the end of its lease shows that the first process is gone.
            lease: { deathProof: false },
          })
          systems.set(machine, system)
        })
      }
      while (systems.size < 2) await stage.sleep(50)
      await stage.sleep(500)
      const add = () => stage.on("client", () => systems.get("client")?.actor(Counter, "c").add())
      answers.push(await add())
      stage.crash("host")
      await stage.sleep(100)
      stage.boot("host")
      await stage.sleep(3_400)
      // The next process claims the actor and starts the turn before the caller learns of the crash.
      const heal = stage.store().cutOff("client")
      const second = add()
      await stage.sleep(2_500)
      heal()
      answers.push(await second)
    },
  }
  const { failure, tail } = await runSeed(workload, 1, { faults: noFaults(), keepTrace: 30 })
  expect(failure, tail.join("\n")).toBeUndefined()
  expect(answers).toEqual([1, 2])
})
