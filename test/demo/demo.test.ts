import { existsSync, readdirSync, watch } from "node:fs"
import { describe, expect, it, onTestFinished } from "vitest"
import { processesOf } from "../../tools/cluster/marked-processes.js"
import { polled } from "../remote/support/polled.js"
import { notice, until } from "../remote/support/until.js"
import { startDemo } from "./demo-run.js"

/** Other tests have their turns on the same cores. */
const PATIENCE_MS = 120_000

describe("the demo", { timeout: PATIENCE_MS }, () => {
  it("kills processes, finds every transfer, and leaves nothing behind", async () => {
    const { demo, directory } = startDemo("--seconds", "6", "--seed", "1")
    expect(await demo.ending, demo.output).toBe("exit code 0")
    const kills = Number(/killed +(\d+) process(es)? with kill -9/.exec(demo.output)?.[1])
    expect(kills).toBeGreaterThan(0)
    expect(demo.output).toMatch(/failover +p50 .*, p99 .*, longest /)
    expect(demo.output).toMatch(/balances +60,000 of 60,000 in \d audit/)
    expect(demo.output).toMatch(
      /all 60 accounts are right: every acknowledged transfer is there, once\n\nWhat next\n/,
    )
    expect(processesOf(directory)).toEqual([])
    expect(readdirSync(directory)).toEqual([])
  })

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends with a summary at %s, though its nodes get that too",
    async (signal) => {
      const { demo, directory } = startDemo()
      await demo.untilItPrints("was killed", PATIENCE_MS / 2)
      // As a terminal does: to all processes of the group.
      process.kill(-(demo.pid as number), signal)
      expect(await demo.ending, demo.output).toBe("exit code 0")
      expect(demo.output).toContain("all 60 accounts are right")
      expect(processesOf(directory)).toEqual([])
      expect(readdirSync(directory)).toEqual([])
    },
  )

  it("ends without a complaint when Ctrl-C ends its nodes before they are up", async () => {
    const { demo, directory } = startDemo()
    await demo.untilItPrints("starting 3 nodes", PATIENCE_MS / 2)
    process.kill(-(demo.pid as number), "SIGINT")
    // A node that is far enough to ignore the signal lets the demo go on, to its summary.
    expect(await demo.ending, demo.output).toMatch(/^exit code (130|0)$/)
    expect(demo.output).not.toContain("did not start")
    expect(processesOf(directory)).toEqual([])
    expect(readdirSync(directory)).toEqual([])
  })

  it("leaves nothing behind, not even when it is killed itself", async () => {
    const { demo, directory } = startDemo()
    await demo.untilItPrints("calls/s", PATIENCE_MS / 2)
    if (existsSync("/proc/self/environ")) expect(processesOf(directory).length).toBeGreaterThan(3)
    const watcher = watch(directory, notice)
    onTestFinished(() => watcher.close())
    await demo.kill()
    await polled("its nodes have ended", () => processesOf(directory).length === 0)
    await until("its files are gone", () => readdirSync(directory).length === 0)
  })

  it("says what it does not understand", async () => {
    const { demo } = startDemo("--seconds", "soon")
    expect(await demo.ending).toBe("exit code 2")
    expect(demo.output).toBe('demo: --seconds must be a whole number from 1 to 86400 (got "soon")\n')
  })
})
