// What user code throws may be anything, also what throws again when it is looked at: an accessor, or a proxy
// that was revoked.

/** As `instanceof`; false for what cannot be looked at. */
export function isInstance<T>(thrown: unknown, type: abstract new (...args: never[]) => T): thrown is T {
  try {
    return thrown instanceof type
  } catch {
    return false
  }
}

/**
 * What was thrown; or an error in its place, if that cannot even be told from an error, or its message cannot
 * be read.
 */
export function readable(thrown: unknown): unknown {
  try {
    if (thrown instanceof Error) void thrown.message
    return thrown
  } catch {
    return new Error("something was thrown that cannot be read")
  }
}

/** What an error says, or what anything else is as text. */
export function messageOf(thrown: unknown): string {
  return textOf(isInstance(thrown, Error) ? fieldOf(thrown, "message") : thrown)
}

/** Undefined where it cannot be read. */
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
    return "something that cannot be printed"
  }
}
