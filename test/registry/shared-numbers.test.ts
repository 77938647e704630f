import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import { expect, onTestFinished, test } from "vitest"
import type * as Clock from "../../src/runtime/node-clock.js"
import type * as Shared from "../../src/runtime/shared-numbers.js"
import { Received } from "../../tools/received.js"
import { built } from "./node-process.js"

/** Modules as the threads of a test load them. */
const shared = moduleUrl("src/runtime/shared-numbers.js")
const clock = moduleUrl("src/runtime/node-clock.js")
const { AtomicNumbers }: typeof Shared = await import(shared)
const { nodeClock }: typeof Clock = await import(clock)

test("what another thread writes is read whole, while it goes on to write", async () => {
  const numbers = new AtomicNumbers(5)
  expect(numbers.read()).toEqual([0, 0, 0, 0, 0])
  const { reports, post } = startThread(
    `const { AtomicNumbers } = await import(${JSON.stringify(shared)})
     const numbers = new AtomicNumbers(workerData)
     let isOver = false
     parentPort.once("message", () => { isOver = true })
     for (let n = 1; !isOver; n += 1) {
       numbers.write([n, n / 3, -n, n * 1e9, n])
       if (n % 10_000 === 0) await new Promise(setImmediate)
       if (n === 10_000) parentPort.postMessage("writes")
     }
     parentPort.postMessage("over")`,
    numbers.memory,
  )
  await reports.first("it writes", (report): report is string => report === "writes")
  const seen = new Set<number>()
  for (let read = 0; read < 200_000; read += 1) {
    const [n = 0, ...others] = numbers.read()
    if (others.join() !== [n / 3, -n, n * 1e9, n].join()) expect([n, ...others]).toEqual("of one write")
    seen.add(n)
  }
  // Or nothing was written meanwhile.
  expect(seen.size).toBeGreaterThan(10)
  post("enough")
  await reports.first("it ends", (report): report is string => report === "over")
})

test("the monotonic clocks of threads count from the same moment", async () => {
  const before = nodeClock.monotonicMs()
  const { reports } = startThread(
    `const { nodeClock } = await import(${JSON.stringify(clock)})
     parentPort.on("message", () => parentPort.postMessage(nodeClock.monotonicMs()))
     parentPort.postMessage(nodeClock.monotonicMs())
     parentPort.unref()`,
    undefined,
  )
  const then = await reports.first(
    "it reads its clock",
    (report): report is number => typeof report === "number",
  )
  const after = nodeClock.monotonicMs()
  expect(then).toBeGreaterThan(before)
  expect(then).toBeLessThan(after)
})

function startThread(code: string, workerData: unknown) {
  const reports = new Received<unknown>()
  const head = `import { parentPort, workerData } from "node:worker_threads"`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(`${head}\n${code}`)}`), {
    workerData,
  })
  worker.on("message", (report) => reports.add(report))
  worker.on("error", (error) => reports.end(error as Error))
  onTestFinished(async () => {
    await worker.terminate()
  })
  return { reports, post: (message: unknown) => worker.postMessage(message) }
}

function moduleUrl(path: string): string {
  return pathToFileURL(join(built, path)).href
}
