import { join } from "node:path"
import { expect, test } from "vitest"
import { importPlanted } from "../../test/golden/planted-import.js"
import { expectScenarios, firstFailing, type Scene } from "../../test/golden/scenario-file.js"
import type { ClientFrame } from "./client-frame.js"
import { refusals } from "./problem.js"
import { Socket, type SocketCommand, type SocketEvent } from "./socket.js"

test("matches its scenarios", async () => {
  await expectScenarios(SCENARIOS, sceneOf(Socket))
})

test.each([
  {
    bug: "a stranger may call",
    from: "if (this.#principal === undefined) return this.#close(CLOSE_MALFORMED, ",
    to: "if (false) return this.#close(CLOSE_MALFORMED, ",
  },
  { bug: "a stranger may stay", from: "now >= this.#deadline", to: "false" },
  {
    bug: "somebody else takes a socket over",
    from: "this.#principal !== undefined && this.#principal !== principal",
    to: "false",
  },
  { bug: "a login never ends", from: "if (now >= this.#expiresAt)", to: "if (false)" },
  { bug: "the client is asked to renew with every tick", from: 'this.#renewal = "asked"', to: "" },
  {
    bug: "small answers collect",
    from: "event.bufferedBytes > this.#terms.sendBytes",
    to: "false",
  },
  { bug: "answers collect", from: "if (bufferedBytes > this.#terms.sendBytes)", to: "if (false)" },
  { bug: "an id is never free again", from: "this.#calls?.delete(id) === true", to: "true" },
  { bug: "calls are not limited", from: "calls.size >= this.#terms.calls", to: "false" },
  {
    bug: "a closing gateway makes calls",
    from: 'if (this.#phase === "leaving") return [',
    to: "if (false) return [",
  },
  { bug: "a ping is sent with every tick", from: "this.#isPinged = true", to: "" },
])("a scenario finds that $bug", async (change) => {
  const planted = await importPlanted<{ Socket: typeof Socket }>(
    new URL("./socket.ts", import.meta.url),
    change,
  )
  expect(firstFailing(SCENARIOS, sceneOf(planted.Socket))).toBeDefined()
})

const SCENARIOS = join(import.meta.dirname, "socket.scenarios.txt")

const TERMS = {
  ...{ helloMs: 5_000, keepAliveMs: 30_000, renewMs: 10_000, leaveMs: 5_000 },
  ...{ sendBytes: 100, calls: 2 },
}

function sceneOf(Made: typeof Socket): Scene {
  return () => {
    const socket = new Made(TERMS, 0)
    return (line) => {
      const [now, ...words] = line.split(" ")
      return socket.handle(eventOf(words), Number(now)).map(shown).join(", ")
    }
  }
}

function eventOf([what = "", word = "", , amount]: readonly string[]): SocketEvent {
  const id = Number(word)
  switch (what) {
    case "hello":
      return received({ kind: "hello", token: "t", ticket: undefined })
    case "call":
      return received({
        kind: "call",
        id,
        call: { type: "Room", key: "x", method: "say", args: [], operation: undefined },
      })
    case "malformed":
      return received({ kind: "malformed", id, problem: refusals.malformed })
    case "ping":
      return received({ kind: "ping" }, Number(amount ?? 0))
    case "garbage":
      return received(undefined)
    case "admitted":
      return {
        kind: "admitted",
        principal: word,
        validMs: amount === undefined ? Number.POSITIVE_INFINITY : Number(amount),
      }
    case "turned-away":
      return { kind: "turned-away", because: word as "unknown" | "too-many" }
    case "answered":
      return { kind: "answered", id, text: `answer ${id}`, bufferedBytes: Number(amount ?? 0) }
    default:
      return { kind: what as "tick" | "leave" | "heard" }
  }
}

function received(frame: ClientFrame | undefined, bufferedBytes = 0): SocketEvent {
  return { kind: "received", frame, bufferedBytes }
}

function shown(command: SocketCommand): string {
  switch (command.kind) {
    case "call":
      return `call ${command.id}`
    case "refuse":
      return `refuse ${command.id}: ${command.problem.code}`
    case "send":
      return `send ${command.text}`
    case "close":
      return `close ${command.code}: ${command.reason}`
    default:
      return command.kind
  }
}
