import { join } from "node:path"
import { expect, test } from "vitest"
import { importPlanted } from "../../../test/golden/planted-import.js"
import { expectScenarios, firstFailing, type Scene } from "../../../test/golden/scenario-file.js"
import { Region, type RegionCommand } from "./region.js"
import type { CoordinatorMessage, Term } from "./region-messages.js"

const SCENARIOS = join(import.meta.dirname, "region.scenarios.txt")

test("matches its scenarios", async () => {
  await expectScenarios(SCENARIOS, sceneOf(Region))
})

test.each([
  {
    bug: "waiting messages are dropped when the home is named",
    from: "const messages = this.buffer.take(shard)",
    to: "const messages: readonly M[] = []",
  },
  {
    bug: "an earlier coordinator is obeyed",
    from: "if (order < 0) return",
    to: "if (order < -9) return",
  },
  {
    bug: "a shard that drains is not reopened for another coordinator",
    from: "for (const [shard] of draining) this.#hosted.set(shard, undefined)",
    to: "",
  },
  {
    bug: "an order that comes late is obeyed",
    from: "if (message.order < (this.#orders.get(message.shard) ?? 0)) return []",
    to: "",
  },
  {
    bug: "a stopped shard is reopened",
    from: `    const wasDraining = this.#hosted.get(shard) !== undefined`,
    to: "    const wasDraining = true",
  },
  {
    bug: "a fenced node still hosts its shards",
    from: `    const ended = this.hosted
    this.#hosted.clear()`,
    to: "    const ended = this.hosted",
  },
  {
    bug: "a region that has given up tells another coordinator that it hosts nothing",
    from: "    if (this.#hasGivenUp) return []\n",
    to: "",
  },
  {
    bug: "a leader is not told that another one is obeyed",
    from: "      ...this.#correct(),",
    to: "",
  },
  {
    bug: "what is stopped is not said again",
    from: "this.#stopped.set(shard, order)",
    to: "",
  },
])("a scenario finds that $bug", async (change) => {
  const planted = await importPlanted<{ Region: typeof Region }>(
    new URL("./region.ts", import.meta.url),
    change,
  )
  expect(firstFailing(SCENARIOS, sceneOf(planted.Region))).toBeDefined()
})

function sceneOf(type: typeof Region): Scene {
  return () => {
    const region = new type<string>({ self: "a", shardCount: 8, bufferCapacity: 3 })
    region.viewed(new Set(["a", "b", "c"]), undefined)
    region.open()
    return (line) => {
      const [what = "", ...rest] = line.split(" ")
      const shown = (commands: readonly RegionCommand<string>[]) => commands.map(show).join(", ")
      switch (what) {
        case "send": {
          const [shard, message = ""] = rest
          const home = region.homeOf(Number(shard))
          if (home !== undefined) return `to ${home}`
          const { outcome, commands } = region.wait(Number(shard), message)
          return [outcome, ...commands.map(show)].join(", ")
        }
        case "withdraw":
          return region.buffer.remove(Number(rest[0]), rest[1] as string) ? "removed" : "not there"
        case "members":
          region.viewed(new Set(rest), undefined)
          return ""
        case "leader":
          region.viewed(new Set(["a", "b", "c"]), rest[0])
          return ""
        case "fenced":
          return shown(region.fenced())
        case "give-up":
          return shown(region.giveUp())
        case "rejoined":
          region.rejoined(rest[0] as string)
          return ""
        case "leave":
          return shown(region.leave())
        case "close":
          return shown(region.close())
        case "tick":
          return shown(region.tick())
        case "drained":
          return shown(region.drained(Number(rest[0])))
        case "hosts?":
          return region.isHosting(Number(rest[0])) ? "yes" : "no"
        case "begun": {
          const [term = "", shard, order, by = ""] = rest
          const begun = { kind: "hand-off-begun", shard: Number(shard), order: Number(order), by } as const
          return shown(region.begun(begun, termOf(term)))
        }
        default:
          return shown(region.receive(messageOf(rest), termOf(what)))
      }
    }
  }
}

/** `2b` is term 2, of the coordinator on b. */
function termOf(text: string): Term {
  return { number: Number(text.slice(0, -1)), node: text.slice(-1) }
}

function messageOf([kind, shard, order, home]: readonly string[]): CoordinatorMessage {
  if (kind === "recover") return { kind }
  return {
    kind,
    shard: Number(shard),
    order: Number(order),
    ...(home === undefined ? {} : { home }),
  } as never
}

function show(command: RegionCommand<string>): string {
  switch (command.kind) {
    case "send": {
      const { kind, ...fields } = command.message
      const shown = Object.values(fields).map((value) =>
        typeof value === "boolean" ? (value ? "+" : "-") : `[${value}]`,
      )
      return `${command.to} (${command.term.number}${command.term.node}): ${[kind, ...shown].join(" ")}`
    }
    case "forward":
      return `forward ${command.messages} to ${command.home}`
    default:
      return `${command.kind} ${command.shard}`
  }
}
