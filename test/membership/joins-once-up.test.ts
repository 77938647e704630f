import { expect, test } from "vitest"
import type { ActorSystem, ActorSystemSettings } from "../../src/index.js"
import { noFaults, runSeed, startSystem } from "../../src/sim/index.js"

test("a node that joins by seeds has started once it is up, or says who kept it from that", async () => {
  const systems = new Map<string, ActorSystem>()
  const starts: unknown[] = []
  const { failure } = await runSeed(
    {
      name: "joins-once-up",
      about: "nodes that join while another one is dead, and not declared down yet",
      async run(stage) {
        const start = (machine: string, settings: Partial<ActorSystemSettings> = {}) =>
          stage.start(machine, async (life) => {
            const seeds = [`${stage.hostOf("a")}:2550`]
            const listen = { host: life.host, port: 2_550, secret: "a secret of five nodes" }
            try {
              const system = await startSystem(life, { namespace: "up", listen, seeds, ...settings })
              systems.set(machine, system)
              const status = system.cluster.member(`${system.node}`)?.status
              starts.push({ machine, status, isReady: system.health().isReady })
            } catch (error) {
              starts.push({ machine, error: `${error}` })
            }
          })
        const up = (machine: string) => ({ machine, status: "up", isReady: true })
        start("a")
        await stage.sleep(1_000)
        start("b")
        start("c")
        await stage.sleep(9_000)
        const first = starts.splice(0)
        expect(first).toHaveLength(3)
        expect(first).toEqual(expect.arrayContaining([up("a"), up("b"), up("c")]))
        stage.crash("b")
        start("d")
        await stage.sleep(9_000)
        expect(starts).toEqual([])
        await stage.sleep(15_000)
        expect(starts.splice(0)).toEqual([up("d")])
        const dead = `${systems.get("c")?.node}`
        stage.crash("c")
        start("e", { joinMs: 9_000 })
        await stage.sleep(9_100)
        const problem = `within 9000 ms; these members cannot be reached: ${dead}; set joinMs`
        expect(starts).toEqual([{ machine: "e", error: expect.stringContaining(problem) }])
      },
    },
    1,
    { faults: noFaults() },
  )
  expect(failure).toBeUndefined()
})
