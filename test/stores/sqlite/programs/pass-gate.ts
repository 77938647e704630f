/** A thread that passes a gate repeatedly, and records in a second piece of memory whether it is inside. */
import { parentPort, workerData } from "node:worker_threads"
import { Gate } from "../../../../src/stores/sqlite/gate.js"

const { shared, inside } = workerData as { shared: SharedArrayBuffer; inside: SharedArrayBuffer }
const gate = new Gate(shared)
const cell = new Int32Array(inside)

for (;;) {
  gate.pass(() => {
    Atomics.store(cell, 0, 1)
    parentPort?.postMessage("inside")
    Atomics.wait(cell, 1, 0, 5)
    Atomics.store(cell, 0, 0)
  })
}
