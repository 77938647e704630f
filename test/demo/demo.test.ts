import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { endingOf, outputOf } from "../../tools/child-process.js"
import { type MarkedProcess, processesOf } from "../../tools/cluster/marked-processes.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { until } from "../remote/support/until.js"

const built = await compiledOnce({
  name: "demo",
  config: "demo/tsconfig.json",
  sources: ["src", "demo", "tools"],
})

/** Other tests have their turns on the same cores. */
const PATIENCE_MS = 120_000

describe("the demo", { timeout: PATIENCE_MS }, () => {
  it("kills processes, finds every transfer, and leaves nothing behind", async () => {
    const demo = start("--seconds", "6", "--seed", "1")
    expect(await demo.ending, demo.output()).toBe("exit code 0")
    const kills = Number(/killed +(\d+) processes, with kill -9/.exec(demo.output())?.[1])
    expect(kills).toBeGreaterThan(0)
    expect(demo.output()).toMatch(/failover +p50 .*, p99 .*, longest /)
    expect(demo.output()).toMatch(/balances +60,000 of 60,000, times counted: \d/)
    expect(demo.output()).toMatch(/all 60 accounts are right: every acknowledged transfer is there, once\n$/)
    expect(demo.processes()).toEqual([])
    expect(readdirSync(demo.directory)).toEqual([])
  })

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends with a summary at %s, though its nodes get that too",
    async (signal) => {
      const demo = start()
      await demo.untilItSays("was killed")
      // As a terminal does: to all processes of the group.
      process.kill(-(demo.child.pid as number), signal)
      expect(await demo.ending, demo.output()).toBe("exit code 0")
      expect(demo.output()).toContain("all 60 accounts are right")
      expect(demo.processes()).toEqual([])
      expect(readdirSync(demo.directory)).toEqual([])
    },
  )

  it("leaves nothing behind, not even when it is killed itself", async () => {
    const demo = start()
    await demo.untilItSays("calls/s")
    if (existsSync("/proc/self/environ")) expect(demo.processes().length).toBeGreaterThan(3)
    demo.child.kill("SIGKILL")
    await demo.ending
    await until("its nodes have ended", () => demo.processes().length === 0)
    await until("its files are gone", () => readdirSync(demo.directory).length === 0)
  })

  it("says what it does not understand", async () => {
    const demo = start("--seconds", "soon")
    expect(await demo.ending).toBe("exit code 2")
    expect(demo.output()).toBe('demo: --seconds must be a whole number from 1 to 86400, not "soon"\n')
  })
})

interface RunningDemo {
  readonly child: ChildProcess
  /** For whatever is temporary. */
  readonly directory: string
  readonly ending: Promise<string>
  output(): string
  untilItSays(text: string): Promise<void>
  /** Those that were started with its directory, and run. */
  processes(): readonly MarkedProcess[]
}

function start(...args: readonly string[]): RunningDemo {
  const directory = mkdtempSync(join(tmpdir(), "demo-"))
  const child = spawn(process.execPath, [join(built, "demo/main.js"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, TMPDIR: directory },
  })
  const output = outputOf(child)
  const ending = endingOf(child)
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ending
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    child,
    directory,
    ending,
    output,
    untilItSays: (text) => until(`it says ${text}`, () => output().includes(text), PATIENCE_MS / 2),
    processes: () => processesOf(directory),
  }
}
