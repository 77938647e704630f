/**
 * What a simulated world provides, while it is current, to code that asks the process for time, chance or a
 * turn.
 */
export interface AmbientWorld {
  wallMs(): number
  /** What `performance.now` and `process.hrtime` read. */
  monotonicMs(): number
  setTimer(delayMs: number, fire: () => void): { cancel(): void }
  /** Where `queueMicrotask` and `process.nextTick` go. */
  microtask(task: () => void): void
  /** Where `setImmediate` goes. */
  yield(task: () => void): void
  randomUint32(): number
  randomBytes(length: number): Uint8Array
  /**
   * The error to throw for what no world can provide, such as a socket; `caller` is the file and line that
   * asked.
   */
  forbidden(what: string, caller: string): Error
}
