import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type CompiledWorkloads, compiledWorkloads } from "../../test/sim/compiled-workloads.js"
import { isUnluckySeed } from "./testing/luck.js"

let compiled: CompiledWorkloads
let unlucky: number

beforeAll(async () => {
  compiled = await compiledWorkloads()
  unlucky = await loneUnluckySeed()
}, 60_000)

afterAll(() => compiled?.[Symbol.dispose]())

describe("the sim command", () => {
  it("runs seeds, and says what came of them", async () => {
    const { status, stdout, stderr } = await sim("--workload local --seeds 40 --jobs 2")
    expect(stdout).toContain("seeds       40 (1 to 40)\n")
    expect(stdout).toMatch(/\d {2}one turn at a time\n/)
    expect(stderr).toContain("local: 0 of 40 seeds, ")
    expect(stdout).toMatch(/\n40 seeds held\n$/)
    expect(status).toBe(0)
  })

  it("comes to the same counts whatever the number of processes", async () => {
    const [one, three] = await Promise.all([
      sim("--workload local --seeds 12 --jobs 1"),
      sim("--workload local --seeds 12 --jobs 3"),
    ])
    const untimed = (text: string) => text.replace(/took .*|, \S+ times as fast.*/g, "")
    expect(untimed(one.stdout)).toBe(untimed(three.stdout))
  })

  it("reports a broken assertion with its events and the command that replays it", async () => {
    const { status, stdout } = await sim(`--testing --workload failing ${around()}`)
    expect(stdout).toContain(`seed ${unlucky} failed: luck holds\n  the lot was a bad one\n`)
    expect(stdout).toMatch(/\n {2}at .*[\\/]testing[\\/]index\.js:\d+\n {2}the last events:\n/)
    expect(stdout).toContain("workload draws a lot\n")
    expect(stdout).toContain(replay("failing"))
    expect(stdout).toMatch(/\n1 of 5 seeds failed\n$/)
    expect(status).toBe(1)
  })

  it("fails a run that left something unreached", async () => {
    const { status, stdout } = await sim(`--testing --workload failing --from ${unlucky + 1} --seeds 2`)
    expect(stdout).toContain("  never  is unlucky\n")
    expect(stdout).toContain("problems\n  never reached: is unlucky\n")
    expect(stdout).toMatch(/\n1 problem\n$/)
    expect(status).toBe(1)
  })

  it.each(["hanging", "spinning"])("ends a seed that is %s, and runs the others", async (workload) => {
    const { status, stdout } = await sim(
      `--testing --workload ${workload} ${around()} --jobs 1 --stall-seconds 2`,
    )
    expect(stdout).toContain("seeds       5 (")
    expect(stdout).toContain(`seed ${unlucky} failed: hung\n  nothing happened for 2 s`)
    expect(stdout).toContain(replay(workload))
    expect(stdout).toMatch(/\n1 of 5 seeds failed\n$/)
    expect(status).toBe(1)
  })

  it("reports a seed that takes its process with it, and runs the others", async () => {
    const { status, stdout } = await sim(`--testing --workload crashing ${around()} --jobs 1`)
    expect(stdout).toContain("seeds       5 (")
    expect(stdout).toContain(
      `seed ${unlucky} failed: died\n  its process ended: exit code 7; the last of its output:\n  this is the end\n`,
    )
    expect(stdout).toContain(replay("crashing"))
    expect(stdout).toMatch(/\n1 of 5 seeds failed\n$/)
    expect(status).toBe(1)
  })

  it("replays one seed with every event", async () => {
    const { status, stdout } = await sim(`--testing --workload failing --seed ${unlucky} --trace`)
    expect(stdout).toMatch(/^ +0 workload begin\n +0 workload draws a lot\nworkload {4}failing/)
    expect(stdout).toContain(`seed ${unlucky} failed: luck holds\n`)
    expect(stdout).not.toContain("the last events")
    expect(status).toBe(1)
    const lucky = await sim(`--testing --workload failing --seed ${unlucky + 1}`)
    expect(lucky.stdout).toMatch(/^workload {4}failing[\s\S]*\n1 seed held\n$/)
    expect(lucky.status).toBe(0)
  })

  it("runs seeds with a bug planted, and replays what it found with the bug", async () => {
    const many = await sim("--workload local --plant mailbox-forgets-one --seeds 20 --jobs 2")
    expect(many.stdout).toContain("\nplanted     mailbox-forgets-one, an actor that stops ")
    expect(many.status).toBe(1)
    const [, seed, told, args = ""] =
      /\nseed (\d+) failed: (.+\n.+\n)[\s\S]*?\n {2}replay: npm run sim -- (.+)\n/.exec(many.stdout) ?? []
    expect(told).toContain("every message is handled or in dead letters\n")
    expect(args).toBe(`--workload local --plant mailbox-forgets-one --seed ${seed} --trace`)
    const again = await sim(args)
    expect(again.stdout).toContain(`\nseed ${seed} failed: ${told}`)
    expect(again.stdout).toContain("\nplanted     mailbox-forgets-one, ")
    expect(again.status).toBe(1)
    const without = await sim(`--workload local --seed ${seed}`)
    expect(without.stdout).not.toContain("planted")
    expect(without.status).toBe(0)
  })

  it("lists the bugs that it can plant, and refuses one that it does not know", async () => {
    expect(await sim("--plant list")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^mailbox-forgets-one +an actor that stops /m),
    })
    const unknown = { status: 2, stdout: "", stderr: expect.stringContaining(`no bug "mailbox" to plant`) }
    expect(await sim("--workload local --plant mailbox")).toMatchObject(unknown)
  })

  it("says what it found so far when it is interrupted", async () => {
    const child = spawn(process.execPath, [compiled.main, ..."--testing --workload endless".split(" ")])
    const closed = once(child, "close")
    let stdout = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
    })
    await once(child.stderr, "data")
    child.kill("SIGINT")
    expect(await closed).toEqual([130, null])
    expect(stdout).toContain("seeds       0 of 100 (1 to 100)\n")
    expect(stdout).toMatch(/\ninterrupted: 0 seeds held\n$/)
  })

  it("lists, and refuses what it does not understand", async () => {
    expect(await sim("")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^local +local actors: /m),
    })
    const unknown = { status: 2, stdout: "", stderr: expect.stringContaining(`no workload "failing"`) }
    expect(await sim("--workload failing")).toMatchObject(unknown)
    const bad = { status: 2, stdout: "", stderr: expect.stringContaining("--seeds must be a whole number") }
    expect(await sim("--workload local --seeds no")).toMatchObject(bad)
    expect(await sim("--help")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("--stall-seconds"),
    })
  })
})

function around(): string {
  return `--from ${unlucky - 2} --seeds 5`
}

function replay(workload: string): string {
  return `\n  replay: npm run sim -- --workload ${workload} --testing --seed ${unlucky} --trace\n`
}

/** The first seed that is unlucky while the two on either side of it are not. */
async function loneUnluckySeed(): Promise<number> {
  const luck: boolean[] = []
  for (let seed = 1; luck.slice(-5).join() !== "false,false,true,false,false"; seed += 1) {
    luck.push(await isUnluckySeed(seed))
  }
  return luck.length - 2
}

function sim(args: string): Promise<Ended> {
  return run([compiled.main, ...args.split(" ").filter((arg) => arg !== "")])
}

interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

function run(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { timeout: 30_000, killSignal: "SIGKILL" } as const
    const child = execFile(process.execPath, args, options, (_, stdout, stderr) => {
      resolve({ status: child.exitCode ?? -1, stdout, stderr })
    })
  })
}
