import { ActorPath } from "./actor-path.js"
import { ActorPathError } from "./actor-path-error.js"
import type { Address } from "./address.js"
import { hasWildcard, NamePattern } from "./name-pattern.js"
import { PathResolutionError } from "./path-resolution-error.js"
import { canonicalSegment, decodeSegment, USER_NAMES } from "./segment.js"
import { readExpression } from "./selection-expression.js"

/**
 * Paths by description: relative to another path, with `*` for any run of characters in a name and `?` for
 * any one.
 *
 * An expression is a relative path (`../manager/ops`), one from the root (`/system/log`) or a whole path
 * (`troupe.tcp://...`). It is worked out when it is made, as text: `.` and `..` are gone, and `..` never
 * climbs past the guardian. What is left is an anchor, which is a plain path, and from the first wildcard on
 * a pattern for each level.
 */
export class ActorSelection {
  /** The path before the first wildcard; the whole path when there is none. */
  readonly anchor: ActorPath
  readonly #levels: readonly NamePattern[]

  private constructor(anchor: ActorPath, levels: readonly NamePattern[]) {
    this.anchor = anchor
    this.#levels = levels
  }

  /** Throws an {@link ActorPathError}. */
  static of(base: ActorPath, expression: string): ActorSelection {
    const { address, start, steps, uid } = readExpression(base, expression)
    const names = [...start]
    const levels: NamePattern[] = []
    for (const step of steps) {
      const index = names.length + levels.length
      if (step === "..") {
        if (levels.pop() === undefined) climb(names)
      } else if (levels.length > 0 || hasWildcard(step)) {
        levels.push(NamePattern.of(step, index))
      } else {
        names.push(nameOf(step, index))
      }
    }
    if (uid !== undefined && levels.length > 0)
      throw new ActorPathError("InvalidUid", "a uid names one actor; a pattern names many")
    return new ActorSelection(pathOf(address, names).withUid(uid), levels)
  }

  /** The one path that `expression` names, seen from `base`. Here `*` is a name like any other. */
  static resolve(base: ActorPath, expression: string): ActorPath {
    const { address, start, steps, uid } = readExpression(base, expression)
    const names = [...start]
    for (const step of steps) {
      if (step === "..") climb(names)
      else names.push(nameOf(step, names.length))
    }
    return pathOf(address, names).withUid(uid)
  }

  /** A pattern for each level below the anchor, canonical. */
  get patterns(): readonly string[] {
    return this.#levels.map(String)
  }

  matches(path: ActorPath): boolean {
    if (this.#levels.length === 0) return this.anchor.sameIncarnation(path)
    if (path.address.key !== this.anchor.address.key) return false
    const names = path.path.split("/")
    const above = names.length - this.#levels.length
    if (above < 2 || names.slice(0, above).join("/") !== this.anchor.path) return false
    return this.#levels.every((level, below) => level.matches(decodeSegment(names[above + below] as string)))
  }

  /**
   * Where a message to this selection goes. One that names another node goes with that node's association: it
   * waits with it while the association is unresolved, and is refused while it is quarantined.
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

  /** As an expression, from any base. A star in a name of the anchor is no wildcard, so it is escaped. */
  toString(): string {
    return [this.anchor.toString().replaceAll("*", "%2A"), ...this.#levels].join("/")
  }
}

export type AuthorityState = "connected" | "unresolved" | "quarantined"

export type SelectionDestination =
  | { readonly kind: "here" }
  | { readonly kind: "there"; readonly authority: string }
  | { readonly kind: "deferred"; readonly authority: string }
  | { readonly kind: "refused"; readonly error: PathResolutionError }

/** Takes the last of `names` away; the first is the guardian. */
function climb(names: string[]): void {
  if (names.length === 1) throw new ActorPathError("RelativeEscape", ".. climbs past the guardian")
  names.pop()
}

function nameOf(step: string, index: number): string {
  const name = canonicalSegment(step, 0, step.length, index, USER_NAMES)
  if (name instanceof ActorPathError) throw name
  return name
}

/** Made once all steps are taken: a path for each step would cost the length of the path each time. */
function pathOf(address: Address, names: readonly string[]): ActorPath {
  return ActorPath.parse(`${address.text}/${names.join("/")}`, { runtimeNames: true })
}
