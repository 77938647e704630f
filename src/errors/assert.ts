/**
 * Throws if an assumption of the code does not hold: a defect, not something that a caller can cause or
 * handle. Assertions stay enabled in production, so `message` is a constant and the condition is cheap.
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) fail(message)
}

/** A separate function, so that `assert` is small enough to be inlined. */
function fail(message: string): never {
  throw new Error(`assertion failed: ${message}; this is a defect of Troupe`)
}
