import { ActorPath } from "./actor-path.js"
import { ActorPathError } from "./actor-path-error.js"
import { readUid } from "./actor-path-parser.js"
import type { Address } from "./address.js"
import { notAString } from "./quote.js"
import { canonicalSegment, USER_NAMES } from "./segment.js"
import { splitUri } from "./uri.js"
import { UriError } from "./uri-error.js"

/** The start of an expression, and the steps from there. */
interface SelectionExpression {
  readonly address: Address
  /** The canonical names of the path that it starts from, the guardian first. */
  readonly start: readonly string[]
  /** Names and `..`, as written. */
  readonly steps: readonly string[]
  readonly uid: number | undefined
}

/**
 * Splits an expression into its start and its steps. The steps are not checked, except for a guardian. Throws
 * an {@link ActorPathError}.
 */
export function readExpression(base: ActorPath, expression: string): SelectionExpression {
  if (typeof expression !== "string") {
    throw new ActorPathError("InvalidUri", `a selection ${notAString(expression)}`)
  }
  const hash = expression.indexOf("#")
  const uid = hash < 0 ? undefined : readUid(expression.slice(hash + 1))
  if (uid instanceof ActorPathError) throw uid
  const text = hash < 0 ? expression : expression.slice(0, hash)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return fromAddress(text, uid)
  if (text.startsWith("/")) return fromRoot(base.address, text, uid)
  const steps = stepsOf(text)
  const start = base.path.slice(1).split("/")
  return { address: base.address, start, steps, uid: uid ?? (steps.length === 0 ? base.uid : undefined) }
}

function fromAddress(text: string, uid: number | undefined): SelectionExpression {
  const split = splitUri(text)
  if (split instanceof UriError)
    throw new ActorPathError("InvalidUri", split.message, undefined, { cause: split })
  const { address } = ActorPath.parse(text.slice(0, split.pathAt))
  const rest = text.slice(split.pathAt)
  if (rest !== "" && !rest.startsWith("/"))
    throw new ActorPathError("InvalidUri", "an actor path must not have a query")
  return fromRoot(address, rest, uid)
}

function fromRoot(address: Address, path: string, uid: number | undefined): SelectionExpression {
  const steps = stepsOf(path.slice(1))
  const guardian = guardianOf(steps[0])
  if (guardian === undefined) return { address, start: ["user"], steps, uid }
  return { address, start: [guardian], steps: steps.slice(1), uid }
}

function guardianOf(step = ""): string | undefined {
  const name = canonicalSegment(step, 0, step.length, 0, USER_NAMES)
  return name === "user" || name === "system" ? name : undefined
}

function stepsOf(path: string): string[] {
  return path === "" ? [] : path.split("/").filter((step) => step !== ".")
}
