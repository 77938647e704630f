// User code may throw any value, including one that throws when it is inspected: an accessor, or a revoked
// proxy.

/** Acts as `instanceof`, and returns false for a value that cannot be inspected. */
export function isInstance<T>(thrown: unknown, type: abstract new (...args: never[]) => T): thrown is T {
  try {
    return thrown instanceof type
  } catch {
    return false
  }
}

/** Returns the thrown value, or a substitute error if the value or its message cannot be inspected. */
export function readable(thrown: unknown): unknown {
  try {
    if (thrown instanceof Error) void thrown.message
    return thrown
  } catch {
    return new Error("a value was thrown that cannot be inspected")
  }
}

/** Returns the message of an error, or any other value as a string. */
export function messageOf(thrown: unknown): string {
  return textOf(isInstance(thrown, Error) ? fieldOf(thrown, "message") : thrown)
}

/** Returns undefined for a field that cannot be read. */
export function fieldOf(thrown: object, name: string): unknown {
  try {
    return (thrown as Record<string, unknown>)[name]
  } catch {
    return undefined
  }
}

export function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return "a value that cannot be printed"
  }
}
