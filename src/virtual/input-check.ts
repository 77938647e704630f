import { shownKind } from "../address/quote.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import type { ActorMethod } from "./actor-type.js"
import type { SchemaIssue } from "./standard-schema.js"

/**
 * Validates the arguments of a call with the schemas of the method, and returns the values that the schemas
 * produce. Rejects with an `InvalidMessageError` that names the invalid arguments and their problems.
 */
export async function validateInput(
  type: string,
  { name, input = [] }: ActorMethod,
  args: readonly unknown[],
): Promise<unknown[]> {
  if (args.length > input.length) {
    throw new InvalidMessageError(
      `number of arguments of ${type}.${name} must be at most ${input.length} (got ${args.length})`,
    )
  }
  const valid: unknown[] = []
  for (const [index, schema] of input.entries()) {
    const result: unknown = await schema["~standard"].validate(args[index])
    // The schema is code of the user or of a library, and may return anything.
    if (!isResult(result)) {
      throw new TypeError(
        `the schema of argument ${index + 1} of ${type}.${name} must return an object (got ${shownKind(result)})`,
      )
    }
    if (result.issues === undefined) {
      valid.push(result.value)
      continue
    }
    if (!Array.isArray(result.issues)) {
      throw new TypeError(
        `issues of the schema of argument ${index + 1} of ${type}.${name} must be an array (got ${shownKind(result.issues)})`,
      )
    }
    const problems = result.issues.map((issue: unknown) => problemOf(index, issue))
    throw new InvalidMessageError(`${type}.${name} was called with invalid input: ${problems.join("; ")}`)
  }
  return valid
}

function isResult(value: unknown): value is { readonly issues?: unknown; readonly value?: unknown } {
  return typeof value === "object" && value !== null
}

function problemOf(index: number, issue: unknown): string {
  const { message, path } = (issue ?? {}) as Partial<SchemaIssue>
  const keys = Array.isArray(path) ? path.map(keyOf) : []
  const place = [`argument ${index + 1}`, ...keys].join(".")
  return `${place}: ${typeof message === "string" ? message : "invalid value"}`
}

export function keyOf(step: unknown): string {
  return String(typeof step === "object" && step !== null ? (step as { key?: unknown }).key : step)
}
