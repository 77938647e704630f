/**
 * Keeps a thread from being ended inside a call to the driver. `libsql` takes that as a broken invariant and
 * aborts the whole process; and every thread is ended, wherever it is, when somebody calls `process.exit`. So
 * before that the gate is shut: the thread finishes the call that it is in, and waits before the next one.
 */
export class Gate {
  readonly shared: SharedArrayBuffer
  readonly #cells: Int32Array

  /** Both threads have one on the same memory. */
  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.shared = shared
    this.#cells = new Int32Array(shared)
  }

  pass<T>(call: () => T): T {
    Atomics.store(this.#cells, INSIDE, 1)
    // In this order, so that whoever shuts it sees the thread inside, or the thread sees it shut.
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

  /** Nothing passes any more. Waits for what is inside, but not for ever: a disk may hang. */
  shut(patienceMs: number): void {
    Atomics.store(this.#cells, SHUT, 1)
    Atomics.wait(this.#cells, INSIDE, 1, patienceMs)
  }

  #leave(): void {
    Atomics.store(this.#cells, INSIDE, 0)
    Atomics.notify(this.#cells, INSIDE)
  }
}

/** To be shut when the process ends. */
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
