/** The same class, with the fields that are plain values, and of the causes what they said. */
export function plainError(error: Error): Error {
  const { cause } = error
  const said = cause instanceof Error ? new Error(cause.message.slice(0, MOST_SAID)) : undefined
  const plain = new Error(error.message.slice(0, MOST_SAID), said === undefined ? undefined : { cause: said })
  for (const [field, value] of Object.entries(error)) {
    if (
      typeof value === "string"
        ? value.length <= MOST_SAID
        : typeof value !== "object" && typeof value !== "function"
    ) {
      Object.defineProperty(plain, field, { value, enumerable: true, writable: true, configurable: true })
    }
  }
  return Object.setPrototypeOf(plain, Object.getPrototypeOf(error) as object) as Error
}

const MOST_SAID = 1_000
