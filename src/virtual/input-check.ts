import { InvalidMessageError } from "../errors/call-errors.js"
import type { ActorMethod } from "./actor-type.js"
import type { SchemaIssue } from "./standard-schema.js"

/** The arguments as the method's schemas give them. Rejects with an `InvalidMessageError` that says what is wrong, and where. */
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
    const result = await schema["~standard"].validate(args[index])
    if (result.issues !== undefined) {
      const problems = result.issues.map((issue) => `${placeOf(index, issue)}: ${issue.message}`)
      throw new InvalidMessageError(`${type}.${name} does not take this: ${problems.join("; ")}`)
    }
    valid.push(result.value)
  }
  return valid
}

function placeOf(index: number, { path = [] }: SchemaIssue): string {
  const keys = path.map((step) => (typeof step === "object" ? step.key : step))
  return [`argument ${index + 1}`, ...keys.map(String)].join(".")
}
