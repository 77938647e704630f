import { ActorIdError, type ActorIdErrorCode } from "./actor-id-error.js"
import { decodeKey, encodeKey, undecodableAt, writtenOffset } from "./actor-key.js"
import { IDENTIFIER, isIn } from "./character-class.js"
import { notAString } from "./quote.js"

/**
 * The name of a virtual actor: `namespace::type/key`.
 *
 * The key is any string of the user's (an e-mail address, a UUID, `room/42`). In the string form all
 * characters except a few safe ones are percent-encoded as UTF-8, so the form can appear in a log or a URL
 * unchanged, and parsing returns the exact key. The namespace is the boundary of the cluster.
 */
export class ActorId {
  /** The namespace of the cluster. */
  readonly namespace: string
  /** The type of the actor. */
  readonly type: string
  /** The key of the actor among those of its type, decoded. */
  readonly key: string
  /**
   * `type/key` with the key decoded, by which the tables of one namespace are keyed. It is unique, because a
   * type contains no `/`.
   */
  readonly name: string

  private constructor(namespace: string, type: string, key: string) {
    this.namespace = namespace
    this.type = type
    this.key = key
    this.name = ActorId.nameOf(type, key)
  }

  /** Returns the name of an actor without creating its id. */
  static nameOf(type: string, key: string): string {
    if (type !== latest.type) latest = { type, prefix: `${type}/` }
    return latest.prefix + key
  }

  /** Creates an id from its parts. Throws an {@link ActorIdError} that says which part is invalid. */
  static of(namespace: string, type: string, key: string): ActorId {
    const id = ActorId.tryOf(namespace, type, key)
    if (id instanceof ActorIdError) throw id
    return id
  }

  /** Acts as `of`, and returns the error instead of throwing it. */
  static tryOf(namespace: string, type: string, key: string): ActorId | ActorIdError {
    const flaw = flawOf(namespace, type, key)
    if (flaw !== undefined) return new ActorIdError(flaw.code, flaw.problem, flaw.at)
    return new ActorId(namespace, type, key)
  }

  /** Parses the string form. Throws an {@link ActorIdError} that says what is invalid, and where. */
  static parse(text: string): ActorId {
    const id = ActorId.tryParse(text)
    if (id instanceof ActorIdError) throw id
    return id
  }

  /** Acts as `parse`, and returns the error instead of throwing it. */
  static tryParse(text: string): ActorId | ActorIdError {
    if (typeof text !== "string") return new ActorIdError("Malformed", `an actor id ${notAString(text)}`)
    if (text.length > LONGEST_TEXT) return new ActorIdError(tooLong.code, tooLong.problem)
    const colons = text.indexOf("::")
    if (colons < 0)
      return new ActorIdError("Malformed", "an actor id must be namespace::type/key; the :: is missing")
    const slash = text.indexOf("/", colons + 2)
    if (slash < 0)
      return new ActorIdError(
        "Malformed",
        "an actor id must be namespace::type/key; the / after the :: is missing",
      )
    const written = text.slice(slash + 1)
    const key = decodeKey(written)
    if (key === undefined) {
      const problem = "a % in the key must be followed by the hex digits of valid UTF-8"
      return new ActorIdError("PercentDecode", problem, slash + 1 + undecodableAt(written))
    }
    const namespace = text.slice(0, colons)
    const type = text.slice(colons + 2, slash)
    const flaw = flawOf(namespace, type, key)
    if (flaw === undefined) return new ActorId(namespace, type, key)
    const { code, problem, at } = flaw
    if (at === undefined) return new ActorIdError(code, problem)
    if (code === "InvalidNamespace") return new ActorIdError(code, problem, at)
    if (code === "InvalidType") return new ActorIdError(code, problem, colons + 2 + at)
    return new ActorIdError(code, problem, slash + 1 + writtenOffset(written, at))
  }

  /** Compares namespace, type and key. */
  equals(other: ActorId): boolean {
    return this === other || (this.name === other.name && this.namespace === other.namespace)
  }

  /**
   * Returns the canonical string form. It is the same for equal ids, so it can serve as the key of a `Map`.
   */
  toString(): string {
    return `${this.namespace}::${this.path}`
  }

  /** `type/key` as in the string form, with the key percent-encoded. */
  get path(): string {
    const written = encodeKey(this.key)
    return written === this.key ? this.name : ActorId.nameOf(this.type, written)
  }

  toJSON(): string {
    return this.toString()
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString()
  }
}

/** The prefix of the names of the last type: those of a million actors share it. */
let latest = { type: "", prefix: "/" }

/** The maximum `length` of the decoded form, separators included. */
const MOST_CHARACTERS = 256
const SEPARATORS = 3
/** A character takes at most nine in the string form: three bytes of UTF-8, with three characters each. */
const LONGEST_TEXT = MOST_CHARACTERS * 9

/**
 * Why the parts of an id are invalid. They may come from JSON and be any value; `at` is an offset in the part
 * that `code` names.
 */
interface Flaw {
  readonly code: ActorIdErrorCode
  readonly problem: string
  readonly at?: number
}

const tooLong: Flaw = {
  code: "TooLong",
  problem: `an actor id must have at most ${MOST_CHARACTERS} characters in all`,
}

function flawOf(namespace: string, type: string, key: string): Flaw | undefined {
  return (
    identifierFlaw("InvalidNamespace", "namespace", namespace) ??
    identifierFlaw("InvalidType", "type", type) ??
    keyFlaw(key) ??
    (namespace.length + type.length + key.length + SEPARATORS > MOST_CHARACTERS ? tooLong : undefined)
  )
}

function identifierFlaw(code: ActorIdErrorCode, what: string, text: string): Flaw | undefined {
  if (typeof text !== "string") return { code, problem: `the ${what} ${notAString(text)}` }
  if (text.length === 0) return { code, problem: `the ${what} must not be empty` }
  for (let at = 0; at < text.length; at += 1) {
    if (!isIn(IDENTIFIER, text.charCodeAt(at))) {
      return { code, problem: `the ${what} must consist of letters, digits, - _ and .`, at }
    }
  }
  return undefined
}

/**
 * Says whether the key is printable ASCII. Most keys are, and this check is much cheaper than the full one.
 */
function isPrintable(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}

function keyFlaw(key: string): Flaw | undefined {
  const code = "InvalidKey"
  if (typeof key !== "string") return { code, problem: `the key ${notAString(key)}` }
  if (key.length === 0) return { code, problem: "the key must not be empty" }
  if (isPrintable(key)) return undefined
  const control = key.search(/\p{Cc}/u)
  if (control >= 0) return { code, problem: "the key must not have control characters", at: control }
  const half = key.search(/\p{Cs}/u)
  if (half >= 0) return { code, problem: "the key must not have half of a surrogate pair", at: half }
  return undefined
}
