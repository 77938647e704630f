import { existsSync } from "node:fs"
import { expect, it } from "vitest"
import { processesOf } from "../../tools/cluster/marked-processes.js"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { polled } from "../remote/support/polled.js"
import { chaos, numberOf, startChaos } from "./chaos-run.js"

for (const [store, engine] of [["postgres", "postgres-18"] as const, ["etcd", "etcd"] as const]) {
  await describeWith(engine, `chaos on ${store}`, () => {
    it("finds nothing wrong, whatever happens to nodes, network and store", async () => {
      const { ending, output } = await chaos(`--store ${store} --minutes 0.5 --seed 20 --nodes 3`)
      expect(ending, output).toBe("exit code 0")
      expect(output).toMatch(/\nall held: .*, nothing was applied twice, and every reminder fired\n$/)
      expect(numberOf("  answered", output)).toBeGreaterThan(100)
      expect(numberOf("takeovers", output)).toBeGreaterThan(0)
      expect(output).toMatch(/\nfailover, (killed|frozen) +p50 .*, p99 .*, of \d+ actors\n/)
      for (const fault of ["restart", "pause", "cut", "reset"]) {
        expect(numberOf(`  store-${fault}`, output), fault).toBeGreaterThan(0)
      }
    })

    it("finds what is lost if saves are not fenced", async () => {
      const { ending, output } = await chaos(`--store ${store} --minutes 0.35 --seed 1 --nodes 3 --unfenced`)
      expect(ending, output).toBe("exit code 1")
      expect(output).toMatch(/(it has .* acknowledged|is not linearizable)/)
      expect(output).toMatch(/\nsomething is wrong\n$/)
    })

    it.runIf(existsSync("/proc/self/environ"))(
      "leaves no process behind if it is killed while its server is paused",
      async () => {
        const args = `--store ${store} --minutes 1 --seed 1 --nodes 2 --faults store-pause`
        const { program, directory } = startChaos(args)
        const isHalted = () => processesOf(directory).some(({ state }) => state === "T")
        await polled("the server is paused", isHalted, 60_000)
        await program.kill()
        await polled("all have ended", () => processesOf(directory).length === 0)
      },
    )
  })
}
