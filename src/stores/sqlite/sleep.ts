/**
 * Blocks this thread, for a fraction of a millisecond if necessary. Must not be used on the event loop of a
 * system.
 */
export function sleep(ms: number): void {
  Atomics.wait(nobodyWakes, 0, 0, ms)
}

const nobodyWakes = new Int32Array(new SharedArrayBuffer(4))
