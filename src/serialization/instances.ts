import { quoted } from "../address/quote.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { TypeNames, TypeOnTheWire } from "../ports/codec.js"

/**
 * Returns the type of that name. A node of another version may have more types, so an unknown name does not
 * violate the protocol.
 */
export function typeNamed(types: TypeNames, name: string): TypeOnTheWire {
  const type = types.named(name)
  if (type !== undefined) return type
  throw new InvalidMessageError(
    `received a value of the unregistered type ${quoted(name)}; add its class to the setting types`,
  )
}

/** Makes an instance by user code, which may throw anything. */
export function instanceOf(type: TypeOnTheWire, taken: unknown): object {
  try {
    return type.make(taken)
  } catch (thrown) {
    if (thrown instanceof MalformedBytesError) throw thrown
    const problem = `decode of ${quoted(type.name)} failed (see cause)`
    throw new InvalidMessageError(problem, "not-delivered", { cause: thrown })
  }
}
