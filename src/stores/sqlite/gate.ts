/**
 * Prevents a thread from being ended inside a call to the driver. `libsql` treats this as a broken invariant
 * and aborts the whole process, and `process.exit` ends every thread, wherever it is. The gate is therefore
 * closed first: the thread finishes its current call, and waits before the next one.
 */
export class Gate {
  readonly shared: SharedArrayBuffer
  readonly #cells: Int32Array

  /** Both threads have a gate on the same memory. */
  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.shared = shared
    this.#cells = new Int32Array(shared)
  }

  pass<T>(call: () => T): T {
    Atomics.store(this.#cells, INSIDE, 1)
    // In this order, so that either the closing thread sees that this thread is inside, or this thread sees
    // that the gate is closed.
    if (Atomics.load(this.#cells, SHUT) === 1) {
      this.#leave()
      Atomics.wait(this.#cells, SHUT, 1)
    }
    try {
      return call()
    } finally {
      this.#leave()
    }
  }

  /** Closes the gate and waits for the call in progress, with a time limit, because a disk may hang. */
  shut(patienceMs: number): void {
    Atomics.store(this.#cells, SHUT, 1)
    Atomics.wait(this.#cells, INSIDE, 1, patienceMs)
  }

  #leave(): void {
    Atomics.store(this.#cells, INSIDE, 0)
    Atomics.notify(this.#cells, INSIDE)
  }
}

/** The gates to close when the process ends. */
export const openGates = {
  add(gate: Gate): void {
    if (gates.size === 0) process.on("exit", shutAll)
    gates.add(gate)
  },

  delete(gate: Gate): void {
    if (gates.delete(gate) && gates.size === 0) process.removeListener("exit", shutAll)
  },
}

const gates = new Set<Gate>()

function shutAll(): void {
  for (const gate of gates) gate.shut(PATIENCE_MS)
}

const INSIDE = 0
const SHUT = 1

const PATIENCE_MS = 1_000
