import { ActorPath } from "./actor-path.js"
import { ActorPathError } from "./actor-path-error.js"
import type { Address } from "./address.js"
import { hasWildcard, NamePattern } from "./name-pattern.js"
import { PathResolutionError } from "./path-resolution-error.js"
import { canonicalSegment, decodeSegment, USER_NAMES } from "./segment.js"
import { readExpression } from "./selection-expression.js"

/**
 * A set of paths: relative to another path, with `*` for any run of characters in a name and `?` for any one
 * character.
 *
 * An expression is a relative path (`../manager/ops`), a path from the root (`/system/log`) or a whole path
 * (`troupe.tcp://...`). It is resolved as text when the selection is made: `.` and `..` are removed, and `..`
 * cannot leave the guardian. The result is an anchor, which is a plain path, and one pattern for each level
 * from the first wildcard on.
 */
export class ActorSelection {
  /** The path before the first wildcard; the whole path when there is none. */
  readonly anchor: ActorPath
  readonly #levels: readonly NamePattern[]

  private constructor(anchor: ActorPath, levels: readonly NamePattern[]) {
    this.anchor = anchor
    this.#levels = levels
  }

  /** Parses an expression relative to `base`. Throws an {@link ActorPathError}. */
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
      throw new ActorPathError("InvalidUid", "a pattern must not have a uid, which names one actor")
    return new ActorSelection(pathOf(address, names).withUid(uid), levels)
  }

  /** Returns the one path that `expression` names, relative to `base`. `*` is an ordinary character here. */
  static resolve(base: ActorPath, expression: string): ActorPath {
    const { address, start, steps, uid } = readExpression(base, expression)
    const names = [...start]
    for (const step of steps) {
      if (step === "..") climb(names)
      else names.push(nameOf(step, names.length))
    }
    return pathOf(address, names).withUid(uid)
  }

  /** One pattern for each level below the anchor, in canonical form. */
  get patterns(): readonly string[] {
    return this.#levels.map(String)
  }

  /** Says whether the path is in the selection. */
  matches(path: ActorPath): boolean {
    if (this.#levels.length === 0) return this.anchor.sameIncarnation(path)
    if (path.address.key !== this.anchor.address.key) return false
    const names = path.path.split("/")
    const above = names.length - this.#levels.length
    if (above < 2 || names.slice(0, above).join("/") !== this.anchor.path) return false
    return this.#levels.every((level, below) => level.matches(decodeSegment(names[above + below] as string)))
  }

  /**
   * Returns where a message to this selection goes. A selection on another node follows the state of that
   * node's association: the message is deferred while it is unresolved, and refused while it is quarantined.
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
            "the node is quarantined, so nothing is sent to it",
          ),
        }
    }
  }

  /**
   * Returns an expression for this selection that works from any base. A star in a name of the anchor is not
   * a wildcard, so it is escaped.
   */
  toString(): string {
    return [this.anchor.toString().replaceAll("*", "%2A"), ...this.#levels].join("/")
  }
}

/** The state of the association with a node. */
export type AuthorityState = "connected" | "unresolved" | "quarantined"

/** Where a message to a selection goes. */
export type SelectionDestination =
  | { readonly kind: "here" }
  | { readonly kind: "there"; readonly authority: string }
  | { readonly kind: "deferred"; readonly authority: string }
  | { readonly kind: "refused"; readonly error: PathResolutionError }

/** Removes the last of `names`; the first is the guardian and stays. */
function climb(names: string[]): void {
  if (names.length === 1) throw new ActorPathError("RelativeEscape", ".. must not go above the guardian")
  names.pop()
}

function nameOf(step: string, index: number): string {
  const name = canonicalSegment(step, 0, step.length, index, USER_NAMES)
  if (name instanceof ActorPathError) throw name
  return name
}

/** Builds the path after all steps: a path per step would cost the length of the path each time. */
function pathOf(address: Address, names: readonly string[]): ActorPath {
  return ActorPath.parse(`${address.text}/${names.join("/")}`, { runtimeNames: true })
}
