import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { ActorId } from "../address/actor-id.js"
import { OverloadedError } from "../errors/call-errors.js"
import type { DurableState } from "../registry/durable-state.js"
import type { DurableOwner } from "./durable-owner.js"
import type { NumberedOperation } from "./operation.js"
import { OperationMemory } from "./operation-memory.js"
import { type Admission, Recollection } from "./recollection.js"
import type { Turn } from "./turn.js"
import type { Failure } from "./turn-result.js"

const DAY_MS = 24 * 60 * 60 * 1_000

test("an actor that remembers too many callers has room again when they were not heard of for a day", async () => {
  const clock = new ManualClock()
  const memory = new OperationMemory()
  for (let caller = 0; caller < 1_300; caller += 1) memory.heard(attempt(caller, 1, [1, 1]), clock.wallMs())
  const recollection = remembering(memory, clock)
  expectOverloaded(recollection.admit(turnOf(attempt(5_000, 1, [1, 1]))))
  await clock.advance(DAY_MS)
  expect(recollection.admit(turnOf(attempt(5_000, 1, [1, 1])))).toEqual({ kind: "run" })
})

test("an actor that remembers too many answers has room again when their caller has closed them", () => {
  const clock = new ManualClock()
  const memory = new OperationMemory()
  for (let number = 1; number <= 3_600; number += 1) {
    memory.heard(attempt(7, number, [1, number]), clock.wallMs())
    memory.remember(attempt(7, number, [1, number]), { isError: false, method: 0, bytes: undefined })
  }
  const recollection = remembering(memory, clock)
  expectOverloaded(recollection.admit(turnOf(attempt(7, 3_601, [1, 3_601]))))
  // The rows are still there; the turn deletes some of them.
  expect(recollection.admit(turnOf(attempt(7, 3_601, [3_601, 3_601])))).toEqual({ kind: "run" })
})

function remembering(memory: OperationMemory, clock: ManualClock): Recollection {
  const state = { mayRemember: true, memory: memory.encode() } as unknown as DurableState
  const tenure = { id: ActorId.of("test", "Account", "alice") }
  const owner = { tenure, home: { clock } } as unknown as DurableOwner
  return new Recollection(owner, state, { change: () => {} })
}

function turnOf(operation: NumberedOperation): Turn {
  return { invocation: { operation } } as unknown as Turn
}

function attempt(caller: number, number: number, ranges: readonly number[]): NumberedOperation {
  const name = caller.toString(16).padStart(16, "0")
  return { kind: "numbered", caller: name, number, isRepeat: false, open: { upTo: number, ranges } }
}

function expectOverloaded(admission: Admission | Promise<Admission>): void {
  const { given } = admission as { readonly given: Failure }
  expect(given.error).toBeInstanceOf(OverloadedError)
}
