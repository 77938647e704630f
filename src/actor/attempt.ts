/**
 * What a part that the user brings gives, or `otherwise` if it throws. A promise that it gives may fail:
 * nobody waits for it.
 */
export function attempt<T>(call: () => T, otherwise: T, failed?: (error: unknown) => void): T {
  try {
    const given = call()
    if (given instanceof Promise) given.catch((error: unknown) => failed?.(error))
    return given
  } catch (error) {
    failed?.(error)
    return otherwise
  }
}
