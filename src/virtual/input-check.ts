import { shownKind } from "../address/quote.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import type { ActorMethod } from "./actor-type.js"
import type { SchemaIssue } from "./standard-schema.js"

/**
 * The arguments as the method's schemas give them. Rejects with an `InvalidMessageError` that says what is
 * wrong, and where.
 */
export async function validInput(
  type: string,
  { name, input = [] }: ActorMethod,
  args: readonly unknown[],
): Promise<unknown[]> {
  if (args.length > input.length) {
    throw new InvalidMessageError(
      `${type}.${name} takes ${input.length} arguments, and was given ${args.length}`,
    )
  }
  const valid: unknown[] = []
  for (const [index, schema] of input.entries()) {
    const result: unknown = await schema["~standard"].validate(args[index])
    // It is the user's own, or a library's, and may give anything.
    if (!isResult(result)) {
      throw new TypeError(
        `the schema of argument ${index + 1} of ${type}.${name} gave ${shownKind(result)}, which is no result of a Standard Schema`,
      )
    }
    if (result.issues === undefined) {
      valid.push(result.value)
      continue
    }
    if (!Array.isArray(result.issues)) {
      throw new TypeError(
        `the schema of argument ${index + 1} of ${type}.${name} gave issues that are no array`,
      )
    }
    const problems = result.issues.map((issue: unknown) => problemOf(index, issue))
    throw new InvalidMessageError(`${type}.${name} does not take this: ${problems.join("; ")}`)
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
  return `${place}: ${typeof message === "string" ? message : "it is not valid"}`
}

function keyOf(step: unknown): string {
  return String(typeof step === "object" && step !== null ? (step as { key?: unknown }).key : step)
}
