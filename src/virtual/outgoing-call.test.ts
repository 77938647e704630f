import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { ActorId } from "../address/actor-id.js"
import { CallError, NodeUnreachableError, OverloadedError } from "../errors/call-errors.js"
import type { CallRouter } from "./call-router.js"
import { ErrorCounts } from "./error-counts.js"
import { OperationLedger } from "./operation-ledger.js"
import { OutgoingCall } from "./outgoing-call.js"
import { OutgoingOperation } from "./outgoing-operation.js"

const alice = ActorId.of("test", "Account", "alice")
const CALLER = "0123456789abcdef"

test("a first attempt that was refused was not delivered", () => {
  const { call, ended, ledger } = scene()
  call.fail(overloaded)
  expect(ended()).toMatchObject({ code: "Overloaded", delivery: "not-delivered" })
  expect(ended()).not.toHaveProperty("operation")
  expect(ledger.size).toBe(0)
})

test("a repeat that was refused leaves the outcome unknown, and its operation open", () => {
  const { call, ended, retried, ledger } = scene()
  call.fail(unreachable)
  expect([retried, call.operation?.isRepeat]).toEqual([["NodeUnreachable"], true])
  call.fail(overloaded)
  expect(ended()).toBeInstanceOf(CallError)
  expect(ended()).toMatchObject({ code: "Overloaded", delivery: "unknown", operation: `~${CALLER}.7` })
  expect(overloaded.delivery).toBe("not-delivered")
  expect(ledger.size).toBe(1)
})

test("a repeat that threw is known", () => {
  const { call, ended, ledger } = scene()
  call.fail(unreachable)
  call.fail(new Error("no"))
  expect(ended()).toMatchObject({ message: "no" })
  expect(ledger.size).toBe(0)
})

const overloaded = new OverloadedError(alice.toString(), 10)
const unreachable = new NodeUnreachableError("b:1", "unknown", "the connection was lost")

/** A call with an operation, and what its router and its maker see of it. */
function scene() {
  const ledger = new OperationLedger(CALLER, new ManualClock())
  const retried: string[] = []
  let error: unknown
  const router = {
    copy: (value: unknown) => value,
    errors: new ErrorCounts(),
    retry: (_call: OutgoingCall, { code }: CallError) => retried.push(code) > 0,
  } as unknown as CallRouter
  const operation = new OutgoingOperation(ledger, alice.name)
  const call = new OutgoingCall(
    router,
    { id: alice, maker: undefined },
    {
      ...{ method: "deposit", args: [1], flags: 0, chain: [], timeoutMs: 1_000, span: undefined, operation },
      resolve: () => {},
      reject: (thrown) => {
        error = thrown
      },
    },
  )
  call.order = 7
  call.attempts?.made(call.order)
  return { call, ledger, retried, ended: () => error }
}
