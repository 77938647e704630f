import type { Operation } from "../src/sim/index.js"
import type { Client } from "./client.js"
import type { Subject } from "./subject.js"

/** What was checked of one kind of actor, and what is wrong. */
export interface Judgement {
  readonly subject: string
  readonly actors: number
  readonly operations: number
  readonly problems: readonly string[]
}

/**
 * Reads every actor once more, and then checks all that clients saw: that it can be explained by doing one
 * operation after the other, and that nothing acknowledged is missing in the end. The latter follows from the
 * former; it is asked again in simpler words, because they are what a person wants to read.
 */
export async function judge<Input, Output>(
  subject: Subject<Input, Output>,
  reader: Client<Input, Output>,
): Promise<Judgement> {
  const before = new Map<string, Operation<Input, Output>[]>()
  for (const operation of subject.history.operations) {
    const ofKey = before.get(operation.key) ?? []
    before.set(operation.key, ofKey)
    ofKey.push(operation)
  }
  const problems: string[] = []
  const left = [...before.keys()]
  const lane = async () => {
    for (let key = left.pop(); key !== undefined; key = left.pop()) {
      const last = await reader.look(key)
      const problem = last === undefined ? "it could not be read" : subject.lost(before.get(key) ?? [], last)
      if (problem !== undefined) problems.push(`${subject.name} ${key}: ${problem}`)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const verdict = subject.check()
  if (verdict.kind === "violation") {
    problems.push(`${subject.name} ${verdict.key} is not linearizable:`, ...verdict.explanation)
  } else if (verdict.kind === "gave-up") {
    problems.push(`${subject.name} ${verdict.key}: too many orders of its operations to try them all`)
  }
  return {
    subject: subject.name,
    actors: before.size,
    operations: subject.history.operations.length,
    problems,
  }
}

const LANES = 8
