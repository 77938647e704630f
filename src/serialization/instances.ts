import { quoted } from "../address/quote.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { TypeNames, TypeOnTheWire } from "../ports/codec.js"

/**
 * The type of that name. A node of another version may have more of them, so a name that is not known is no
 * broken protocol.
 */
export function typeNamed(types: TypeNames, name: string): TypeOnTheWire {
  const type = types.named(name)
  if (type !== undefined) return type
  throw new InvalidMessageError(
    `a value of the type ${quoted(name)} came, which is not registered here: add its class to the setting types`,
  )
}

/** An instance, made by code that is the user's and may throw anything. */
export function instanceOf(type: TypeOnTheWire, taken: unknown): object {
  try {
    return type.make(taken)
  } catch (thrown) {
    if (thrown instanceof MalformedBytesError) throw thrown
    const problem = `no ${quoted(type.name)} could be made of what came for one (see cause)`
    throw new InvalidMessageError(problem, "not-delivered", { cause: thrown })
  }
}
