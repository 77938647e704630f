/**
 * What a simulated world provides, while it is current, to code that uses the time, randomness or event loop
 * of the process.
 */
export interface AmbientWorld {
  wallMs(): number
  /** The time of `performance.now` and `process.hrtime`. */
  monotonicMs(): number
  setTimer(delayMs: number, fire: () => void): { cancel(): void }
  /** Runs the tasks of `queueMicrotask` and `process.nextTick`. */
  microtask(task: () => void): void
  /** Runs the tasks of `setImmediate`. */
  yield(task: () => void): void
  randomUint32(): number
  randomBytes(length: number): Uint8Array
  /**
   * Returns the error to throw for what no world can provide, such as a socket; `caller` is the file and line
   * of the call.
   */
  forbidden(what: string, caller: string): Error
}
