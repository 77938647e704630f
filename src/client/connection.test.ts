import { join } from "node:path"
import { expect, test } from "vitest"
import { importPlanted } from "../../test/golden/planted-import.js"
import { expectScenarios, firstFailing, type Scene } from "../../test/golden/scenario-file.js"
import { Connection, type ConnectionCommand, type ConnectionEvent, type ServerFrame } from "./connection.js"

test("matches its scenarios", async () => {
  await expectScenarios(SCENARIOS, sceneOf(Connection))
})

test.each([
  {
    bug: "every call is repeated",
    from: "commands = sent.filter(({ isOnce }) => !isOnce)",
    to: "commands = [].filter(() => true)",
  },
  { bug: "a repeat has no operation", from: "call.isOnce ||= ", to: "call.isOnce = !call.isRepeat && " },
  {
    bug: "a lost call is said not to have run",
    from: 'call.isSent ? "unknown" : "not-delivered"',
    to: '"not-delivered"',
  },
  { bug: "a refused repeat is said not to have run", from: "call.isRepeat = true", to: "" },
  { bug: "a client hammers the gateway", from: "this.#failures += 1", to: "" },
  { bug: "a good connection does not count", from: "this.#failures = 0\n", to: "this.#failures += 0\n" },
  { bug: "a refused login is tried for ever", from: "this.#refusals += 1", to: "" },
  { bug: "an old refusal counts", from: "this.#refusals = 0\n", to: "\n" },
  {
    bug: "a dead connection is kept",
    from: 'this.#phase === "connecting" || this.#isPinged',
    to: 'this.#phase === "connecting"',
  },
  { bug: "calls that a closing gateway refused fail", from: 'problem.code !== "GatewayClosing"', to: "true" },
  {
    bug: "a call that was answered makes no room",
    from: "this.#inFlight -= 1\n    this.#calls",
    to: "void 0\n    this.#calls",
  },
  { bug: "a closing gateway is asked again and again", from: "this.#window = 0\n    return", to: "return" },
  { bug: "calls are not limited", from: "this.#calls.size < this.#terms.maxCalls", to: "true" },
])("a scenario finds that $bug", async (change) => {
  const url = new URL("./connection.ts", import.meta.url)
  const planted = await importPlanted<{ Connection: typeof Connection }>(url, change)
  expect(firstFailing(SCENARIOS, sceneOf(planted.Connection))).toBeDefined()
})

const SCENARIOS = join(import.meta.dirname, "connection.scenarios.txt")

function sceneOf(Made: typeof Connection): Scene {
  return () => {
    const connection = new Made({ timeoutMs: 30_000, maxCalls: 3 }, 0)
    return (line) => {
      const [now, ...words] = line.split(" ")
      return connection.handle(eventOf(words), Number(now)).map(shown).join(", ")
    }
  }
}

function eventOf([what = "", first = "", second = "", third = ""]: readonly string[]): ConnectionEvent {
  const id = Number(first)
  switch (what) {
    case "call": {
      const call = { id, type: "Room", method: second, text: `"method":"${second}"`, operation: `op${id}` }
      return { kind: "called", call }
    }
    case "lost":
      return { kind: "lost", code: id, reason: "why", chance: 1 }
    case "tick":
      return { kind: "tick", chance: 1 }
    case "close":
      return { kind: "close" }
    case "welcome":
      return received({
        kind: "welcome",
        keepAliveMs: 30_000,
        calls: 2,
        methods: { Room: { say: 0, post: 1 } },
      })
    case "result":
      return received({ kind: "result", id, value: second })
    case "problem": {
      const delivery = third === "" ? {} : { delivery: third as "unknown" | "not-delivered" }
      return received({ kind: "problem", id, problem: { status: 503, code: second, title: "", ...delivery } })
    }
    default:
      return received({ kind: what as "pong" | "renew" })
  }
}

function received(frame: ServerFrame): ConnectionEvent {
  return { kind: "received", frame }
}

function shown(command: ConnectionCommand): string {
  switch (command.kind) {
    case "send":
      return `send ${command.text}`
    case "settle":
      return `settle ${command.id} ${String(command.value)}`
    case "fail": {
      const { code, delivery = "answered", operation = "" } = command.error
      return `fail ${command.id}: ${code} ${delivery} ${operation}`.trimEnd()
    }
    default:
      return command.kind
  }
}
