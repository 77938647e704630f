import { join } from "node:path"
import { expect, test } from "vitest"
import { importPlanted } from "../../../test/golden/planted-import.js"
import { expectScenarios, firstFailing, type Scene } from "../../../test/golden/scenario-file.js"
import { Entities } from "./entities.js"

const SCENARIOS = join(import.meta.dirname, "entities.scenarios.txt")

test("matches its scenarios", async () => {
  await expectScenarios(SCENARIOS, sceneOf(Entities))
})

test.each([
  {
    bug: "an entity that ends is started at once",
    from: `return known === undefined ? "start" : "wait"`,
    to: `return known?.state === "starting" ? "wait" : "start"`,
  },
  {
    bug: "messages for the next incarnation are lost in a handoff",
    from: "if (entry.waiting.size === 0) return",
    to: "if (entry.waiting.size === 0 || this.#draining.has(entry.shard)) return",
  },
  {
    bug: "an entity that starts is forgotten by a handoff",
    from: `if (mustEnd) entry.state = "ending"`,
    to: "",
  },
  {
    bug: "a shard is drained with its first entity",
    from: "return left === 0 && this.#draining.has(shard)",
    to: "return this.#draining.has(shard)",
  },
  { bug: "the buffer is not bounded", from: `if (this.#waiting >= this.#capacity) return "full"`, to: "" },
])("a scenario finds that $bug", async (change) => {
  const url = new URL("./entities.ts", import.meta.url)
  const planted = await importPlanted<{ Entities: typeof Entities }>(url, change)
  expect(firstFailing(SCENARIOS, sceneOf(planted.Entities))).toBeDefined()
})

function sceneOf(type: typeof Entities): Scene {
  return () => {
    const entities = new type<string>(3)
    return (line) => {
      const [what, first = "", ...rest] = line.split(" ")
      switch (what) {
        case "receive": {
          const [shard, message = ""] = rest
          return entities.find(first)?.state === "running"
            ? "deliver"
            : entities.receive(Number(shard), first, message)
        }
        case "remember":
          return entities.remember(Number(rest[0]), first) ? "start" : "is there"
        case "withdraw":
          return entities.withdraw(first, rest[0] as string) ? "removed" : "not there"
        case "started": {
          const { messages, mustEnd } = entities.started(first)
          const state = entities.find(first)?.state
          return [
            `${state}`,
            ...messages.map((message) => `deliver ${message}`),
            ...(mustEnd ? ["end"] : []),
          ].join(", ")
        }
        case "end":
          return entities.end(first) ? "ending" : "not running"
        case "failed": {
          const { messages, drained } = entities.failed(first)
          return [...messages.map((message) => `refuse ${message}`), ...shown(drained)].join(", ")
        }
        case "ended": {
          const { startsAgain, drained } = entities.ended(first)
          return [...(startsAgain ? ["start"] : []), ...shown(drained)].join(", ")
        }
        case "drain": {
          const ending = entities.drain(Number(first))
          return ending === undefined ? "drained" : `end ${ending.length === 0 ? "none" : ending}`
        }
        case "reopen":
          entities.reopen(Number(first))
          return ""
        case "abort": {
          const { messages, running } = entities.abort(Number(first))
          return [
            `stop ${running.length === 0 ? "none" : running}`,
            ...messages.map((each) => `refuse ${each}`),
          ].join(", ")
        }
        default:
          return `${entities.size}`
      }
    }
  }
}

function shown(drained: number | undefined): readonly string[] {
  return drained === undefined ? [] : [`drained ${drained}`]
}
