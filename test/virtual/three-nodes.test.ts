import { expect, test } from "vitest"
import { Actor, type ActorSystem } from "../../src/index.js"
import { noFaults, runSeed, startSystem, type Workload } from "../../src/sim/index.js"

class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"

  protected override initialState() {
    return { count: 0 }
  }

  async add(amount: number) {
    this.state.count += amount
    await this.save()
    return this.state.count
  }

  async addAt(key: string, amount: number) {
    return await this.actor(Counter, key).add(amount)
  }

  count() {
    return this.state.count
  }
}

test("three nodes serve the same actors", async () => {
  const workload: Workload = {
    name: "first",
    about: "",
    faults: [],
    async run(stage) {
      const systems = new Map<string, ActorSystem>()
      const names = ["a", "b", "c"]
      for (const name of names) {
        stage.start(name, async (life) => {
          systems.set(
            name,
            await startSystem(life, {
              namespace: "test",
              actors: [Counter],
              listen: { host: life.host, port: 4000, secret: "0123456789abcdef" },
              store: stage.store().provider(life),
            }),
          )
        })
      }
      await stage.sleep(1_000)
      for (let round = 0; round < 10; round += 1) {
        for (const name of names) {
          for (let key = 0; key < 10; key += 1) {
            const count = await stage.on(name, () =>
              (systems.get(name) as ActorSystem).actor(Counter, `k${key}`).add(1),
            )
            stage.always("counted", count === round * 3 + names.indexOf(name) + 1, () => `${count}`)
            stage.operation()
          }
        }
      }
      const via = await stage.on("a", () =>
        (systems.get("a") as ActorSystem).actor(Counter, "x").addAt("k1", 5),
      )
      stage.always("by way of another", via === 35, () => `${via}`)
      stage.crash("b")
      await stage.sleep(5)
      for (let key = 0; key < 10; key += 1) {
        const count = await stage.on("a", () =>
          (systems.get("a") as ActorSystem).actor(Counter, `k${key}`).count(),
        )
        stage.always("kept", count === (key === 1 ? 35 : 30), () => `${count}`)
      }
      await stage.on("c", () => (systems.get("c") as ActorSystem).stop())
      for (let key = 0; key < 10; key += 1) {
        const count = await stage.on("a", () =>
          (systems.get("a") as ActorSystem).actor(Counter, `k${key}`).count(),
        )
        stage.always("kept", count === (key === 1 ? 35 : 30), () => `${count}`)
      }
    },
  }
  const report = await runSeed(workload, 1, { faults: noFaults(), keepTrace: 60 })
  expect(report.failure, report.tail.join("\n")).toBeUndefined()
})
