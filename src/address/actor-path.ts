import { ActorPathError } from "./actor-path-error.js"
import { isUid, parsePath } from "./actor-path-parser.js"
import { Address, type AddressParts, type Scheme } from "./address.js"
import { notAString } from "./quote.js"
import { canonicalSegment, decodeSegment, RUNTIME_NAMES, USER_NAMES } from "./segment.js"

export type Guardian = "user" | "system"

export interface ParseOptions {
  /** Accept names that begin with `$`, which only the runtime gives. */
  readonly runtimeNames?: boolean
}

/**
 * Where an actor is: `troupe://system[@host:port]/guardian/segment/...[#uid]`.
 *
 * A value: it never changes, and two of them are equal when system, authority and segments are; neither the
 * uid nor the scheme counts. Inside, it is an address that all paths of a system share, and its own canonical
 * text, so that comparing and formatting cost one string operation. Use `key` where a `Map` is keyed by path.
 */
export class ActorPath {
  readonly address: Address
  /** `/guardian/segment/...`, canonical. */
  readonly path: string
  readonly uid: number | undefined
  #key: string | undefined
  #text: string | undefined
  #hash: number | undefined

  private constructor(address: Address, path: string, uid: number | undefined) {
    this.address = address
    this.path = path
    this.uid = uid
  }

  /** Throws an {@link ActorPathError} that says what is wrong, and where. */
  static parse(text: string, options?: ParseOptions): ActorPath {
    const path = ActorPath.tryParse(text, options)
    if (path instanceof ActorPathError) throw path
    return path
  }

  /** As `parse`, for texts that may well be wrong: the error is returned. */
  static tryParse(text: string, options?: ParseOptions): ActorPath | ActorPathError {
    if (typeof text !== "string") return new ActorPathError("InvalidUri", `an actor path ${notAString(text)}`)
    const parts = parsePath(text, options?.runtimeNames === true ? RUNTIME_NAMES : USER_NAMES)
    return parts instanceof ActorPathError ? parts : new ActorPath(parts.address, parts.path, parts.uid)
  }

  /** The path of a guardian, from which all others are made with `child`. */
  static root(address: Address | AddressParts, guardian: Guardian = "user"): ActorPath {
    const checked = address instanceof Address ? address : Address.of(address)
    if (checked instanceof ActorPathError) throw checked
    return new ActorPath(checked, `/${guardian}`, undefined)
  }

  get scheme(): Scheme {
    return this.address.scheme
  }

  get system(): string {
    return this.address.system
  }

  get host(): string | undefined {
    return this.address.host
  }

  get port(): number | undefined {
    return this.address.port
  }

  get guardian(): Guardian {
    return this.path.charCodeAt(1) === LOWER_U ? "user" : "system"
  }

  /** The names after the guardian, decoded. */
  get segments(): readonly string[] {
    const [, , ...names] = this.path.split("/")
    return names.map(decodeSegment)
  }

  /** The last name, decoded; a guardian's is the guardian. */
  get name(): string {
    return decodeSegment(this.path.slice(this.path.lastIndexOf("/") + 1))
  }

  /** Undefined for a guardian. */
  get parent(): ActorPath | undefined {
    const slash = this.path.lastIndexOf("/")
    return slash === 0 ? undefined : new ActorPath(this.address, this.path.slice(0, slash), undefined)
  }

  /** `segment` as it is written in a path: `%20` is a space. The child does not inherit the uid. */
  child(segment: string, options?: ParseOptions): ActorPath {
    if (typeof segment !== "string")
      throw new ActorPathError("InvalidSegment", `a name ${notAString(segment)}`)
    const rules = options?.runtimeNames === true ? RUNTIME_NAMES : USER_NAMES
    const canonical = canonicalSegment(segment, 0, segment.length, 0, rules)
    if (canonical instanceof ActorPathError) {
      throw canonicalSegment(segment, 0, segment.length, this.path.split("/").length - 1, rules)
    }
    return new ActorPath(this.address, `${this.path}/${canonical}`, undefined)
  }

  /** The same place under `address`: how one node's local path reads on another. */
  under(address: Address): ActorPath {
    return new ActorPath(address, this.path, this.uid)
  }

  withUid(uid: number | undefined): ActorPath {
    if (uid === this.uid) return this
    if (uid !== undefined && !isUid(uid)) {
      throw new ActorPathError(
        "InvalidUid",
        `the uid ${typeof uid === "number" ? `is ${uid}` : "is no number"}; it can be any positive integer up to 2^53 - 1`,
      )
    }
    return new ActorPath(this.address, this.path, uid)
  }

  /** The same text for equal paths, and for no others. */
  get key(): string {
    this.#key ??= this.address.key + this.path
    return this.#key
  }

  /** A 32-bit number, the same for equal paths, on every node and in every version. */
  get hash(): number {
    this.#hash ??= fnv1a(this.key)
    return this.#hash
  }

  equals(other: ActorPath): boolean {
    return this === other || (this.path === other.path && this.address.key === other.address.key)
  }

  /** Whether both name the same incarnation: equal, and neither says another uid. */
  sameIncarnation(other: ActorPath): boolean {
    return this.equals(other) && (this.uid === undefined || other.uid === undefined || this.uid === other.uid)
  }

  /** The canonical text, with the uid where there is one. */
  toString(): string {
    if (this.#text === undefined) {
      const text = this.address.text + this.path
      this.#text = this.uid === undefined ? text : `${text}#${this.uid}`
    }
    return this.#text
  }

  toJSON(): string {
    return this.toString()
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString()
  }
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

const LOWER_U = 117
