import { expect, test } from "vitest"
import { Actor, type ActorSystem, withOptions } from "../../src/index.js"
import { noFaults, runSeed, startSystem } from "../../src/sim/index.js"

class Echo extends Actor {
  static readonly type = "Echo"

  echo(text: string) {
    return text
  }
}

test("a node that reaches the store and no other node hosts nothing until it has met one", async () => {
  const systems = new Map<string, ActorSystem>()
  const { failure } = await runSeed(
    {
      name: "met-first",
      about: "a node that starts while it is cut off from its peers",
      async run(stage) {
        const start = (machine: string) =>
          stage.start(machine, async (life) => {
            const listen = { host: life.host, port: 2_550, secret: "a secret of two nodes" }
            const store = stage.store().provider(life)
            systems.set(machine, await startSystem(life, { namespace: "met", actors: [Echo], store, listen }))
          })
        const healthOf = (machine: string) => stage.on(machine, () => systems.get(machine)?.health())
        const call = () =>
          stage.on("b", () => {
            const echo = systems.get("b")?.actor(Echo, "one")
            return echo && withOptions(echo, { timeoutMs: 2_000 }).echo("hello")
          })
        start("a")
        await stage.sleep(1_000)
        stage.cut("a", "b")
        stage.cut("b", "a")
        start("b")
        await stage.sleep(1_000)
        expect(await healthOf("b")).toMatchObject({
          isReady: false,
          reasons: ["this node has not reached any of the other nodes yet"],
          phase: "member",
          members: 2,
        })
        await expect(call()).rejects.toMatchObject({ delivery: "not-delivered" })
        expect(await healthOf("b")).toMatchObject({ activations: 0 })
        stage.heal()
        await stage.sleep(4_000)
        expect(await healthOf("b")).toMatchObject({ isReady: true, reasons: [] })
        expect(await call()).toBe("hello")
      },
    },
    1,
    { faults: noFaults() },
  )
  expect(failure).toBeUndefined()
})
