import { ActorPathError } from "./actor-path-error.js"
import { isUid, parsePath } from "./actor-path-parser.js"
import { Address, type AddressParts, type Scheme } from "./address.js"
import { notAString, shownKind } from "./quote.js"
import { canonicalSegment, decodeSegment, RUNTIME_NAMES, USER_NAMES } from "./segment.js"

/**
 * The two roots of the tree of actors: `user` for those of the program, `system` for those of the runtime.
 */
export type Guardian = "user" | "system"

/** Options of parsing a path. */
export interface ParseOptions {
  /** Accepts names that begin with `$`, which only the runtime assigns. */
  readonly runtimeNames?: boolean
}

/**
 * The location of an actor: `troupe://system[@host:port]/guardian/segment/...[#uid]`.
 *
 * A path is an immutable value. Two paths are equal if system, authority and segments are; uid and scheme do
 * not count. Internally it is an address, which all paths of a system share, and its own canonical string, so
 * that comparing and formatting cost one string operation. Use `key` for a `Map` that is keyed by path.
 */
export class ActorPath {
  /** Scheme, system, host and port. */
  readonly address: Address
  /** `/guardian/segment/...`, canonical. */
  readonly path: string
  /** The incarnation of the actor; undefined for the current one. */
  readonly uid: number | undefined
  #key: string | undefined
  #text: string | undefined
  #hash: number | undefined

  private constructor(address: Address, path: string, uid: number | undefined) {
    this.address = address
    this.path = path
    this.uid = uid
  }

  /** Parses a path. Throws an {@link ActorPathError} that says what is invalid, and where. */
  static parse(text: string, options?: ParseOptions): ActorPath {
    const path = ActorPath.tryParse(text, options)
    if (path instanceof ActorPathError) throw path
    return path
  }

  /** Acts as `parse`, and returns the error instead of throwing it. */
  static tryParse(text: string, options?: ParseOptions): ActorPath | ActorPathError {
    if (typeof text !== "string") return new ActorPathError("InvalidUri", `an actor path ${notAString(text)}`)
    const parts = parsePath(text, options?.runtimeNames === true ? RUNTIME_NAMES : USER_NAMES)
    return parts instanceof ActorPathError ? parts : new ActorPath(parts.address, parts.path, parts.uid)
  }

  /** Returns the path of a guardian, from which others are made with `child`. */
  static root(address: Address | AddressParts, guardian: Guardian = "user"): ActorPath {
    const checked = address instanceof Address ? address : Address.of(address)
    if (checked instanceof ActorPathError) throw checked
    return new ActorPath(checked, `/${guardian}`, undefined)
  }

  /** The scheme of the address. */
  get scheme(): Scheme {
    return this.address.scheme
  }

  /** The name of the system. */
  get system(): string {
    return this.address.system
  }

  /** The host, or undefined for a local path. */
  get host(): string | undefined {
    return this.address.host
  }

  /** The port, if the path has one. */
  get port(): number | undefined {
    return this.address.port
  }

  /** The root that the actor is under. */
  get guardian(): Guardian {
    return this.path.charCodeAt(1) === LOWER_U ? "user" : "system"
  }

  /** The names after the guardian, decoded. */
  get segments(): readonly string[] {
    const [, , ...names] = this.path.split("/")
    return names.map(decodeSegment)
  }

  /** The last name, decoded; for the path of a guardian, the guardian. */
  get name(): string {
    return decodeSegment(this.path.slice(this.path.lastIndexOf("/") + 1))
  }

  /** The parent's path, or undefined for the path of a guardian. */
  get parent(): ActorPath | undefined {
    const slash = this.path.lastIndexOf("/")
    return slash === 0 ? undefined : new ActorPath(this.address, this.path.slice(0, slash), undefined)
  }

  /**
   * Returns the path of a child. `segment` is written as in a path: `%20` is a space. The child does not
   * inherit the uid. Throws an {@link ActorPathError}.
   */
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

  /**
   * Returns the same path under another address: the form in which a local path of one node appears on
   * another node.
   */
  under(address: Address): ActorPath {
    return new ActorPath(address, this.path, this.uid)
  }

  /** Returns the path with another uid. Throws an {@link ActorPathError}. */
  withUid(uid: number | undefined): ActorPath {
    if (uid === this.uid) return this
    if (uid !== undefined && !isUid(uid)) {
      throw new ActorPathError(
        "InvalidUid",
        `the uid must be a positive integer up to 2^53 - 1 (got ${shownKind(uid)})`,
      )
    }
    return new ActorPath(this.address, this.path, uid)
  }

  /** The same string for equal paths, and for no others. */
  get key(): string {
    this.#key ??= this.address.key + this.path
    return this.#key
  }

  /** A 32-bit hash, the same for equal paths on every node and in every version. */
  get hash(): number {
    this.#hash ??= fnv1a(this.key)
    return this.#hash
  }

  /** Compares system, authority and segments. */
  equals(other: ActorPath): boolean {
    return this === other || (this.path === other.path && this.address.key === other.address.key)
  }

  /** Says whether both name the same incarnation: they are equal and do not have different uids. */
  sameIncarnation(other: ActorPath): boolean {
    return this.equals(other) && (this.uid === undefined || other.uid === undefined || this.uid === other.uid)
  }

  /** Returns the canonical string form, with the uid if there is one. */
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
