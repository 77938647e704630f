import { describe, expect, it } from "vitest"
import { type ActorSystem, type CallOptions, OverloadedError, TimeoutError } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { OnceClient } from "./once-client.js"
import type { OnceSubject } from "./once-subject.js"
import { OperationLog } from "./operation-log.js"

describe("a client of operations", () => {
  it("repeats one that it has named, until it is answered", async () => {
    const { asked, operation, client, over } = opened(true, [unknown(), refused(), 7, 7])
    await client.carryOut(operation, over)
    expect(operation).toMatchObject({ ending: "acknowledged", attempts: 3, answers: [{ output: 7 }] })
    await client.attempt(operation)
    expect(asked).toEqual(["order o1", "order o1", "order o1", "order o1"])
    expect(operation).toMatchObject({ attempts: 3, answers: [{ output: 7 }, { output: 7 }] })
  })

  it("repeats one under the name that an error gives it, whatever the repeat says of itself", async () => {
    const { asked, operation, client, over } = opened(false, [unknown("~x.1"), refused(), 7])
    await client.carryOut(operation, over)
    expect(asked).toEqual([undefined, "~x.1", "~x.1"])
    expect(operation).toMatchObject({ ending: "acknowledged", attempts: 3 })
  })

  it("believes what it is told of the only attempt", async () => {
    const { operation, client, over } = opened(false, [refused()])
    await client.carryOut(operation, over)
    expect(operation).toMatchObject({ ending: "refused", attempts: 1 })
  })

  it("gives up after as many attempts as it wants to make, and leaves open what it has no time for", async () => {
    const { operation, client, over } = opened(true, [unknown(), unknown(), 7])
    await client.carryOut(operation, AbortSignal.abort())
    expect(operation).toMatchObject({ ending: "open", attempts: 0 })
    await client.carryOut(operation, over, 2)
    expect(operation).toMatchObject({ ending: "abandoned", attempts: 2 })
  })

  it("does not put up with an unknown outcome that it cannot clear up", async () => {
    const { operation, client, over, problems } = opened(false, [unknown()])
    await client.carryOut(operation, over)
    expect(operation.ending).toBe("abandoned")
    expect(problems).toEqual([expect.stringMatching(/^operation o1 of thing k: .*names no operation/)])
  })

  it("does not put up with what no fault explains", async () => {
    const { operation, client, over, problems } = opened(true, [new TypeError("a bug")])
    await client.carryOut(operation, over)
    expect(problems).toEqual([expect.stringMatching(/^operation o1 of thing k: TypeError: a bug/)])
  })
})

/** An actor that answers calls with these outcomes, one after the other. */
function opened(isNamed: boolean, outcomes: readonly (number | Error)[]) {
  const left = [...outcomes]
  const asked: (string | undefined)[] = []
  const problems: string[] = []
  const log = new OperationLog<undefined, number>("o", () => 0)
  const subject: OnceSubject<undefined, number, undefined> = {
    name: "thing",
    log,
    breathMs: 0,
    wishes: () => ({ next: () => ({ key: "k", input: undefined }), ended: () => {} }),
    call: async (_system: ActorSystem, _operation, { operation }: CallOptions) => {
      asked.push(operation)
      const outcome = left.shift()
      if (typeof outcome === "number") return outcome
      throw outcome
    },
    look: async () => undefined,
  }
  const client = new OnceClient({
    name: "c1",
    systems: [{} as ActorSystem],
    subject,
    random: new SeededRandom(1),
    broke: (problem) => problems.push(problem),
  })
  const operation = log.begun({ client: "c1", key: "k", input: undefined, isNamed })
  return { asked, problems, client, operation, over: new AbortController().signal }
}

function unknown(operation?: string): TimeoutError {
  const error = new TimeoutError("k", 100)
  if (operation !== undefined) error.operation = operation
  return error
}

function refused(): OverloadedError {
  return new OverloadedError("k", 1)
}
