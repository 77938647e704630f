import { ActorIdError } from "./actor-id-error.js"
import { IDENTIFIER, isIn, KEY_SAFE, skip } from "./character-class.js"

/**
 * The name of a virtual actor: `namespace::type/key`.
 *
 * The key is the user's own text (an e-mail address, a UUID, `room/42`). In the string form what is not plainly safe is
 * percent-encoded as UTF-8, so the form can stand in a log or a URL as it is, and parsing gives back the very key. The
 * namespace is the cluster's boundary.
 */
export class ActorId {
  readonly namespace: string
  readonly type: string
  readonly key: string
  #text: string | undefined

  private constructor(namespace: string, type: string, key: string) {
    this.namespace = namespace
    this.type = type
    this.key = key
  }

  /** Throws an {@link ActorIdError} that says which part is wrong. */
  static of(namespace: string, type: string, key: string): ActorId {
    const id = ActorId.tryOf(namespace, type, key)
    if (id instanceof ActorIdError) throw id
    return id
  }

  static tryOf(namespace: string, type: string, key: string): ActorId | ActorIdError {
    return (
      identifierError("InvalidNamespace", "namespace", namespace) ??
      identifierError("InvalidType", "type", type) ??
      keyError(key) ??
      lengthError(namespace.length + type.length + key.length + SEPARATORS) ??
      new ActorId(namespace, type, key)
    )
  }

  /** Throws an {@link ActorIdError} that says what is wrong, and where. */
  static parse(text: string): ActorId {
    const id = ActorId.tryParse(text)
    if (id instanceof ActorIdError) throw id
    return id
  }

  static tryParse(text: string): ActorId | ActorIdError {
    if (text.length > LONGEST_TEXT) return tooLong()
    const colons = text.indexOf("::")
    if (colons < 0)
      return new ActorIdError("Malformed", "an actor id is namespace::type/key, and there is no :: in it")
    const slash = text.indexOf("/", colons + 2)
    if (slash < 0)
      return new ActorIdError(
        "Malformed",
        "an actor id is namespace::type/key, and there is no / after the ::",
      )
    const key = decodeKey(text, slash + 1)
    if (key instanceof ActorIdError) return key
    return ActorId.tryOf(text.slice(0, colons), text.slice(colons + 2, slash), key)
  }

  equals(other: ActorId): boolean {
    return (
      this === other ||
      (this.key === other.key && this.type === other.type && this.namespace === other.namespace)
    )
  }

  /** The canonical text; the same for equal ids, so it serves as the key of a `Map`. */
  toString(): string {
    this.#text ??= `${this.namespace}::${this.type}/${encodeKey(this.key)}`
    return this.#text
  }

  toJSON(): string {
    return this.toString()
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString()
  }
}

/** Of the readable form, separators included, as `length` counts. */
const MOST_CHARACTERS = 256
const SEPARATORS = 3
/** A character takes at most nine in the string form: three bytes of UTF-8, three characters each. */
const LONGEST_TEXT = MOST_CHARACTERS * 9

function identifierError(code: "InvalidNamespace" | "InvalidType", what: string, text: string) {
  if (text.length === 0) return new ActorIdError(code, `the ${what} is empty`)
  for (let at = 0; at < text.length; at += 1) {
    if (!isIn(IDENTIFIER, text.charCodeAt(at))) {
      return new ActorIdError(code, `the ${what} has a character other than letters, digits, - _ and .`, at)
    }
  }
  return undefined
}

function keyError(key: string): ActorIdError | undefined {
  if (key.length === 0) return new ActorIdError("InvalidKey", "the key is empty")
  for (let at = 0; at < key.length; at += 1) {
    const code = key.charCodeAt(at)
    if (code < 32 || (code >= 127 && code < 160)) {
      return new ActorIdError("InvalidKey", "the key has a control character", at)
    }
  }
  if (!key.isWellFormed()) return new ActorIdError("InvalidKey", "the key has half of a surrogate pair")
  return undefined
}

function lengthError(length: number): ActorIdError | undefined {
  return length > MOST_CHARACTERS ? tooLong() : undefined
}

function tooLong(): ActorIdError {
  return new ActorIdError("TooLong", `an actor id has at most ${MOST_CHARACTERS} characters in all`)
}

function encodeKey(key: string): string {
  if (skip(KEY_SAFE, key, 0) === key.length && !key.includes("%")) return key
  let encoded = ""
  for (const character of key) {
    encoded += isIn(KEY_SAFE, character.codePointAt(0) as number) ? character : percentEncode(character)
  }
  return encoded
}

/** Every byte of the character's UTF-8; `encodeURIComponent` alone leaves some punctuation bare. */
function percentEncode(character: string): string {
  const encoded = encodeURIComponent(character)
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded
}

function decodeKey(text: string, from: number): string | ActorIdError {
  const written = text.slice(from)
  if (!written.includes("%")) return written
  try {
    return decodeURIComponent(written)
  } catch {
    return new ActorIdError(
      "PercentDecode",
      "a % in the key is not followed by the hex digits of UTF-8",
      from,
    )
  }
}
