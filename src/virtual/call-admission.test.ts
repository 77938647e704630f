import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, test } from "vitest"
import { importPlanted } from "../../test/golden/planted-import.js"
import { expectScenarios, firstFailing, type Scene } from "../../test/golden/scenario-file.js"
import { type AdmittableCall, CallAdmission } from "./call-admission.js"

test("matches its scenarios", async () => {
  await expectScenarios(SCENARIOS, sceneOf(CallAdmission))
})

test.each([
  {
    bug: "a call that follows a refused one is accepted",
    from: `if (this.#isBehindRefused(call)) return "sent-too-early"`,
    to: "",
  },
  {
    bug: "a refusal is not remembered",
    from: "keys.add(key)",
    to: "",
  },
  { bug: "a resent call does not end the refusals", from: "if (isResent) keys.delete(key)", to: "" },
  { bug: "a resent call is refused", from: "return !isResent", to: "return true" },
  {
    bug: "an actor is resolved for each of its calls",
    from: "if (known !== undefined) return this.#wait(call, known)",
    to: "",
  },
  {
    bug: "the next actor of a connection is never resolved",
    from: "next: this.#leave(calls.connection)",
    to: "next: undefined",
  },
  {
    bug: "calls that waited are delivered twice",
    from: "calls.waiting = []\n    return waiting",
    to: "return waiting",
  },
])("a scenario finds that $bug", async (change) => {
  const url = new URL("./call-admission.ts", import.meta.url)
  const planted = await importPlanted<{ CallAdmission: typeof CallAdmission }>(url, change)
  expect(firstFailing(SCENARIOS, sceneOf(planted.CallAdmission))).toBeDefined()
})

test("forgets no refusal when a connection has more refused keys than the limit", () => {
  const admission = admitting()
  const there = {}
  for (let number = 0; number <= 10_000; number += 1) admission.refused(new FakeCall(`${number}`))
  for (const key of ["0", "1", "5000", "10000"]) {
    expect(admission.arrived(new FakeCall(key), true)).toBe("sent-too-early")
  }
  // A key that was never refused is refused once too, as it is no longer distinguished from the others.
  expect(admission.arrived(new FakeCall("other"), true)).toBe("sent-too-early")
  expect(admission.arrived(new FakeCall("other", HERE, true), true)).toBe("deliver")
  expect(admission.arrived(new FakeCall("other"), true)).toBe("deliver")
  admission.refused(new FakeCall("other"))
  expect(admission.arrived(new FakeCall("other"), true)).toBe("sent-too-early")
  expect(admission.arrived(new FakeCall("0", there), true)).toBe("deliver")
})

test("keeps a limited number of resent keys; a call to a dropped one has to be resent", () => {
  const admission = admitting()
  for (let number = 0; number <= 20_000; number += 1) admission.refused(new FakeCall(`${number}`))
  for (let number = 0; number <= 10_000; number += 1) {
    expect(admission.arrived(new FakeCall(`${number}`, HERE, true), true)).toBe("deliver")
  }
  expect(admission.arrived(new FakeCall("10000"), true)).toBe("deliver")
  expect(admission.arrived(new FakeCall("0"), true)).toBe("sent-too-early")
  expect(admission.arrived(new FakeCall("0", HERE, true), true)).toBe("deliver")
})

test("keeps no resolved calls of a connection whose queue never empties", async () => {
  const admission = admitting()
  for (let number = 0; number < 12; number += 1) admission.arrived(new FakeCall(`first ${number}`), false)
  const given: WeakRef<FakeCall>[] = []
  let next: string | undefined = "first 0"
  for (let number = 0; number < 50_000; number += 1) {
    const call = new FakeCall(`${number}`)
    if (number % 5_000 === 0) given.push(new WeakRef(call))
    expect(admission.arrived(call, false)).toBe("wait")
    next = admission.resolved(next as string).next?.key
  }
  // A WeakRef that was created or dereferenced keeps its target alive until the task ends.
  await new Promise((resolve) => setImmediate(resolve))
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  expect(admission.resolving).toBe(12)
  expect(given.filter((ref) => ref.deref() !== undefined).length).toBeLessThanOrEqual(1)
})

const SCENARIOS = join(import.meta.dirname, "call-admission.scenarios.txt")

function sceneOf(Admission: typeof CallAdmission): Scene {
  return () => {
    const admission = new Admission<FakeCall>({
      capacity: 3,
      resolvingPerConnection: 2,
      waitingPerConnection: 2,
    })
    const calls = new Map<string, FakeCall>()
    return (line) => happen(admission, calls, line.split(" "))
  }
}

function admitting(): CallAdmission<FakeCall> {
  return new CallAdmission({ capacity: 10, resolvingPerConnection: 10, waitingPerConnection: 100_000 })
}

const HERE = {}

class FakeCall implements AdmittableCall {
  isOver = false
  problem: Error | undefined = undefined
  room: Error | undefined = undefined
  name = ""
  readonly key: string
  readonly connection: object
  readonly isResent: boolean

  constructor(key: string, connection: object = HERE, isResent = false) {
    this.key = key
    this.connection = connection
    this.isResent = isResent
  }

  waitIn(): Error | undefined {
    return this.room
  }
}

function happen(
  admission: CallAdmission<FakeCall>,
  calls: Map<string, FakeCall>,
  [what, name = "", connection = "", key = "", how]: readonly string[],
): string {
  const call = calls.get(name) as FakeCall
  switch (what) {
    case "arrive": {
      const arrived = new FakeCall(key, connectionOf(connection), how === "resent")
      arrived.name = name
      if (how === "invalid") arrived.problem = new Error("no such method")
      if (how === "crowded") arrived.room = new Error("no room")
      calls.set(name, arrived)
      const admitted = admission.arrived(arrived, how === "here")
      return admitted instanceof Error ? `refuse: ${admitted.message}` : admitted
    }
    case "refuse":
      admission.refused(call)
      return ""
    case "ends":
      call.isOver = true
      return ""
    case "activated":
      return named("deliver", admission.activatedHere(name))
    case "resolved": {
      const { waited, next } = admission.resolved(name)
      return [named("answer", waited), next === undefined ? "" : `resolve ${next.key}`]
        .filter(Boolean)
        .join(", ")
    }
    case "stop":
      return named("refuse", admission.stop())
    default:
      throw new TypeError(`unknown event ${what}`)
  }
}

function named(what: string, calls: readonly FakeCall[]): string {
  return calls.length === 0 ? "" : `${what} ${calls.map(({ name }) => name).join(" ")}`
}

function connectionOf(name: string): object {
  let connection = connections.get(name)
  if (connection === undefined) {
    connection = {}
    connections.set(name, connection)
  }
  return connection
}

const connections = new Map<string, object>()
