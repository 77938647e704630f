import { existsSync, writeFileSync } from "node:fs"
import { expect, it, onTestFinished } from "vitest"
import { Received } from "../received.js"
import { processesOf } from "./marked-processes.js"
import { Program, type ProgramOptions } from "./program.js"
import { temporaryFolder } from "./temporary-folder.js"

it("runs with its arguments and variables, and sends and receives messages", async () => {
  const { program, received } = start(
    `process.send([process.argv[2], process.env.COLOUR])
     process.once("message", (message) => { process.send(message); process.disconnect() })`,
    { args: ["one"], env: { COLOUR: "green" } },
  )
  await received.count("messages", 1)
  program.send({ back: true })
  expect(await program.ending).toBe("exit code 0")
  expect(received.items).toEqual([["one", "green"], { back: true }])
})

it("has all that was printed, and waits for what is yet to be", async () => {
  const { program } = start(`
    console.log("first")
    process.once("message", () => { console.error("second"); process.disconnect() })`)
  await program.untilItPrints("first", 15_000)
  const second = program.untilItPrints("second", 15_000)
  program.send("go on")
  await second
  await program.untilItPrints("first", 0)
  expect(await program.ending).toBe("exit code 0")
  expect([program.output, program.stdout]).toEqual(["first\nsecond\n", "first\n"])
  await expect(program.untilItPrints("third", 15_000)).rejects.toThrow("ended without having printed third")
})

it("reads the lines that are typed, until its input ends", async () => {
  const { program } = start("process.stdin.pipe(process.stdout); process.disconnect()", { input: true })
  program.type("one")
  await program.untilItPrints("one\n", 15_000)
  program.type("two")
  program.endInput()
  expect(await program.ending).toBe("exit code 0")
  expect(program.output).toBe("one\ntwo\n")
})

it("does not wait longer than the deadline", async () => {
  const { program } = start("setInterval(() => {}, 1000)")
  await expect(program.untilItPrints("anything", 1)).rejects.toThrow(
    "waited 1 ms in vain until it prints anything",
  )
})

it("lets a shell set limits first, in the same process", async () => {
  const { program } = start("console.log(process.report.getReport().userLimits.core_file_size_blocks.soft)", {
    shell: "ulimit -c 0",
  })
  expect(await program.ending).toBe("exit code 0")
  expect(program.output).toBe("0\n")
})

it.runIf(existsSync("/proc/self/environ"))(
  "is found by its folder for temporary files, until it ends",
  async () => {
    const folder = temporaryFolder()
    onTestFinished(() => folder.remove())
    const { program } = start('console.log("runs"); setInterval(() => {}, 1000)', {
      env: { TMPDIR: folder.path },
      channel: false,
    })
    await program.untilItPrints("runs", 15_000)
    expect(processesOf(folder.path).map(({ pid }) => pid)).toEqual([program.pid])
    await program.halt()
    expect(processesOf(folder.path)).toEqual([{ pid: program.pid, state: "T" }])
    await program.kill()
    expect(processesOf(folder.path)).toEqual([])
  },
)

it("makes temporary folders that differ, and removes them with what is in them", () => {
  const [one, other] = [temporaryFolder(), temporaryFolder()]
  onTestFinished(() => other.remove())
  expect(one.path).not.toBe(other.path)
  writeFileSync(one.file("a"), "")
  one.remove()
  expect([existsSync(one.path), existsSync(other.path)]).toEqual([false, true])
})

function start(text: string, options: ProgramOptions<unknown> = {}) {
  const folder = temporaryFolder()
  const file = folder.file("program.mjs")
  writeFileSync(file, text)
  const received = new Received<unknown>()
  const program = new Program(file, { ...options, received: (message) => received.add(message) })
  onTestFinished(async () => {
    await program.kill()
    folder.remove()
  })
  return { program, received }
}
