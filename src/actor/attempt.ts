/**
 * Calls code that the user supplies, and returns `otherwise` if it throws. If it returns a promise, nothing
 * waits for that promise, and its rejection is caught.
 */
export function attempt<T>(call: () => T, otherwise: T, onError?: (error: unknown) => void): T {
  try {
    const given = call()
    if (given instanceof Promise) given.catch((error: unknown) => onError?.(error))
    return given
  } catch (error) {
    onError?.(error)
    return otherwise
  }
}
