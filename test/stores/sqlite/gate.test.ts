import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { expect, it } from "vitest"
import { Gate } from "../../../src/stores/sqlite/gate.js"
import { programFile } from "./built-store.js"

it("lets a thread finish its current call when it is closed, and no further call", async () => {
  for (let round = 0; round < 10; round += 1) {
    const gate = new Gate()
    const cell = new Int32Array(new SharedArrayBuffer(8))
    const worker = new Worker(programFile("pass-gate"), {
      workerData: { shared: gate.shared, inside: cell.buffer },
    })
    await once(worker, "message")
    gate.shut(10_000)
    expect(Atomics.load(cell, 0)).toBe(0)
    expect(Atomics.wait(cell, 0, 0, 20)).toBe("timed-out")
    await worker.terminate()
  }
})

it("does not wait forever for a call that does not return", () => {
  const gate = new Gate()
  gate.pass(() => gate.shut(1))
})

it("does not wait if there is no call in progress", () => {
  const gate = new Gate()
  expect(gate.pass(() => 3)).toBe(3)
  expect(() =>
    gate.pass(() => {
      throw new Error("inside")
    }),
  ).toThrow("inside")
  gate.shut(Number.POSITIVE_INFINITY)
})
