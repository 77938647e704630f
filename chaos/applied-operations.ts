import type { LoggedOperation } from "./operation-log.js"

/** What was done of what clients asked for, by the lists that the actors keep. */
export interface AppliedFigures {
  readonly acknowledged: number
  readonly refused: number
  /** Those of which no client knows whether they happened. */
  readonly unknown: number
  readonly applied: number
  /** Operations that their clients had to attempt again until they were answered. */
  readonly repeated: number
  /** Operations that were attempted again after that, and answered again. */
  readonly answeredAgain: number
}

/** `lists` has the operations that each actor has applied, in their order, each with its position. */
export function figuresOf(
  operations: readonly LoggedOperation<unknown, unknown>[],
  lists: ReadonlyMap<string, readonly Written[]>,
): AppliedFigures {
  const count = (is: (operation: LoggedOperation<unknown, unknown>) => boolean) =>
    operations.filter(is).length
  return {
    acknowledged: count(({ ending }) => ending === "acknowledged"),
    refused: count(({ ending }) => ending === "refused"),
    unknown: count(({ ending }) => ending === "open" || ending === "abandoned"),
    applied: [...lists.values()].reduce((sum, list) => sum + list.length, 0),
    repeated: count(({ attempts }) => attempts > 1),
    answeredAgain: count(({ answers }) => answers.length > 1),
  }
}

/** An operation in the list of an actor. */
export interface Written {
  readonly id: string
  readonly position: number
}

/**
 * Compares what clients were told with the lists that the actors keep: an operation is in the list of its
 * actor once if it was acknowledged, at most once in any case, and never if it was refused. All answers to it
 * are alike, and name the place where it is. What was acknowledged before another operation was asked for
 * stands before that one.
 */
export function problemsOfApplied<Output>(
  subject: string,
  operations: readonly LoggedOperation<unknown, Output>[],
  lists: ReadonlyMap<string, readonly Written[]>,
  positionOf: (output: Output) => number,
): readonly string[] {
  const problems: string[] = []
  const known = new Map(operations.map((operation) => [operation.id, operation]))
  const places = new Map<string, number[]>()
  for (const [key, list] of lists) {
    for (const { id, position } of list) {
      if (known.get(id)?.key !== key) problems.push(`${subject} ${key} has ${id}, which nobody asked it for`)
      else places.set(id, [...(places.get(id) ?? []), position])
    }
  }
  for (const operation of operations) {
    const { id, key, client } = operation
    const found = places.get(id) ?? []
    const wrong = [...wrongPlaces(operation, found), ...wrongAnswers(operation, found, positionOf)]
    problems.push(...wrong.map((problem) => `operation ${id} of ${subject} ${key}, by ${client}, ${problem}`))
  }
  for (const [key, list] of lists) {
    const problem = outOfOrder(list, known)
    if (problem !== undefined) problems.push(`${subject} ${key} ${problem}`)
  }
  return problems
}

/** `found` are the places where the operation is. */
function wrongPlaces(
  { ending }: LoggedOperation<unknown, unknown>,
  found: readonly number[],
): readonly string[] {
  const places = found.join(" and ")
  if (found.length > 1) return [`was applied ${found.length} times, at ${places}`]
  if (found.length === 1 && ending === "refused") {
    return [`was said not to have happened, and was applied at ${places}`]
  }
  const isLost = found.length === 0 && ending === "acknowledged"
  return isLost ? ["was acknowledged, and was not applied"] : []
}

function wrongAnswers<Output>(
  { answers }: LoggedOperation<unknown, Output>,
  found: readonly number[],
  positionOf: (output: Output) => number,
): readonly string[] {
  const [first, ...others] = answers.map(({ output }) => output)
  if (first === undefined) return []
  const said = JSON.stringify(first)
  const different = others.map((output) => JSON.stringify(output)).find((other) => other !== said)
  const isElsewhere = found.length > 0 && !found.includes(positionOf(first))
  return [
    ...(different === undefined ? [] : [`was answered with ${said}, and then with ${different}`]),
    ...(isElsewhere ? [`was answered with ${said}, and was applied at ${found[0]}`] : []),
  ]
}

/** The last operation that stands before one that had been acknowledged when it was asked for. */
function outOfOrder(
  list: readonly Written[],
  known: ReadonlyMap<string, LoggedOperation<unknown, unknown>>,
): string | undefined {
  let earliest: LoggedOperation<unknown, unknown> | undefined
  // Of one that is there twice, the first counts.
  const ids = [...new Set(list.map(({ id }) => id))]
  for (const id of ids.reverse()) {
    const operation = known.get(id)
    if (operation === undefined) continue
    if (returnedOf(earliest) < operation.called.order) {
      return `has ${id} before ${earliest?.id}, which was acknowledged before ${id} was asked for`
    }
    if (returnedOf(operation) < returnedOf(earliest)) earliest = operation
  }
  return undefined
}

function returnedOf(operation: LoggedOperation<unknown, unknown> | undefined): number {
  return operation?.answers[0]?.returned.order ?? Number.POSITIVE_INFINITY
}
