import { ActorPath } from "./actor-path.js"
import { ActorPathError } from "./actor-path-error.js"
import { readUid } from "./actor-path-parser.js"
import type { Address } from "./address.js"
import { PathResolutionError } from "./path-resolution-error.js"
import { splitUri } from "./uri.js"
import { UriError } from "./uri-error.js"

/**
 * Paths by description: relative to another path, with `*` for any run of characters in a name and `?` for any one.
 *
 * An expression is a relative path (`../manager/ops`), one from the root (`/system/log`) or a whole path
 * (`troupe.tcp://...`). It is worked out when it is made, as text: `.` and `..` are gone, and `..` never climbs past the
 * guardian. What is left is an anchor, which is a plain path, and from the first wildcard on a pattern for each level.
 */
export class ActorSelection {
  /** The path before the first wildcard; the whole path when there is none. */
  readonly anchor: ActorPath
  /** A pattern for each level below the anchor. */
  readonly patterns: readonly string[]

  private constructor(anchor: ActorPath, patterns: readonly string[]) {
    this.anchor = anchor
    this.patterns = patterns
  }

  /** Throws an {@link ActorPathError}. */
  static of(base: ActorPath, expression: string): ActorSelection {
    const { start, steps, uid } = read(base, expression)
    const patterns: string[] = []
    let anchor = start
    for (const step of steps) {
      if (step === "..") {
        if (patterns.pop() === undefined) anchor = climb(anchor)
      } else if (patterns.length > 0 || isPattern(step)) {
        patterns.push(checkPattern(step))
      } else {
        anchor = anchor.child(step)
      }
    }
    return new ActorSelection(anchor.withUid(uid), patterns)
  }

  /** The one path that `expression` names, seen from `base`. Here `*` is a name like any other. */
  static resolve(base: ActorPath, expression: string): ActorPath {
    const { start, steps, uid } = read(base, expression)
    return steps.reduce((path, step) => (step === ".." ? climb(path) : path.child(step)), start).withUid(uid)
  }

  matches(path: ActorPath): boolean {
    if (this.patterns.length === 0) return this.anchor.sameIncarnation(path)
    const names = path.segments
    const above = names.length - this.patterns.length
    if (above !== this.anchor.segments.length) return false
    let ancestor: ActorPath | undefined = path
    for (const _ of this.patterns) ancestor = ancestor?.parent
    if (ancestor === undefined || !ancestor.equals(this.anchor)) return false
    return this.patterns.every((pattern, level) => matchesName(pattern, names[above + level] as string))
  }

  /**
   * Where a message to this selection goes. One that names another node goes with that node's association: it waits with it
   * while the association is unresolved, and is refused while it is quarantined.
   */
  destination(home: Address, stateOf: (authority: string) => AuthorityState): SelectionDestination {
    const { address } = this.anchor
    const authority = address.authority
    if (authority === undefined || address.key === home.key) return { kind: "here" }
    switch (stateOf(authority)) {
      case "connected":
        return { kind: "there", authority }
      case "unresolved":
        return { kind: "deferred", authority }
      case "quarantined":
        return {
          kind: "refused",
          error: new PathResolutionError(
            "Quarantined",
            authority,
            "this node is quarantined; nothing is sent to it",
          ),
        }
    }
  }

  toString(): string {
    return [this.anchor.toString(), ...this.patterns].join("/")
  }
}

export type AuthorityState = "connected" | "unresolved" | "quarantined"

export type SelectionDestination =
  | { readonly kind: "here" }
  | { readonly kind: "there"; readonly authority: string }
  | { readonly kind: "deferred"; readonly authority: string }
  | { readonly kind: "refused"; readonly error: PathResolutionError }

interface Expression {
  readonly start: ActorPath
  /** Names and `..`, as written. */
  readonly steps: readonly string[]
  readonly uid: number | undefined
}

function read(base: ActorPath, expression: string): Expression {
  const hash = expression.indexOf("#")
  const uid = hash < 0 ? undefined : readUid(expression.slice(hash + 1))
  if (uid instanceof ActorPathError) throw uid
  const text = hash < 0 ? expression : expression.slice(0, hash)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    const split = splitUri(text)
    if (split instanceof UriError)
      throw new ActorPathError("InvalidUri", split.message, undefined, { cause: split })
    return fromRoot(ActorPath.parse(text.slice(0, split.pathAt)), text.slice(split.pathAt), uid)
  }
  if (text.startsWith("/")) return fromRoot(base, text, uid)
  const steps = stepsOf(text)
  return { start: base.withUid(undefined), steps, uid: uid ?? (steps.length === 0 ? base.uid : undefined) }
}

function fromRoot(home: ActorPath, path: string, uid: number | undefined): Expression {
  const steps = stepsOf(path.slice(1))
  const [first] = steps
  if (first !== "user" && first !== "system") return { start: ActorPath.root(home.address), steps, uid }
  return { start: ActorPath.root(home.address, first), steps: steps.slice(1), uid }
}

function stepsOf(path: string): string[] {
  return path === "" ? [] : path.split("/").filter((step) => step !== ".")
}

function climb(path: ActorPath): ActorPath {
  if (path.parent === undefined) throw new ActorPathError("RelativeEscape", ".. climbs past the guardian")
  return path.parent
}

function isPattern(name: string): boolean {
  return name.includes("*") || name.includes("?")
}

/** A pattern without its question marks obeys the rules of a name. */
function checkPattern(pattern: string): string {
  const sample = pattern.replaceAll("?", "*")
  return ActorPath.root({ system: "x" }).child(sample) && pattern
}

/** Both walk forward; on a mismatch the last `*` takes in one character more. */
function matchesName(pattern: string, name: string): boolean {
  let p = 0
  let n = 0
  let star = -1
  let resume = 0
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p
      p += 1
      resume = n
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === name[n])) {
      p += 1
      n += 1
    } else if (star >= 0) {
      p = star + 1
      resume += 1
      n = resume
    } else {
      return false
    }
  }
  while (pattern[p] === "*") p += 1
  return p === pattern.length
}
