import { join } from "node:path"
import { expect, test } from "vitest"
import { importPlanted } from "../../../test/golden/planted-import.js"
import { expectScenarios, firstFailing, type Scene } from "../../../test/golden/scenario-file.js"
import type { MemberStatus } from "../../membership/member.js"
import { leastShards, type ShardAllocation } from "./allocation.js"
import { Coordinator, type CoordinatorCommand } from "./coordinator.js"
import type { RegionMessage } from "./region-messages.js"

const SCENARIOS = join(import.meta.dirname, "coordinator.scenarios.txt")

test("matches its scenarios", async () => {
  await expectScenarios(SCENARIOS, sceneOf(Coordinator))
})

test.each([
  {
    bug: "a map moves on a deadline",
    from: `      move.stage = "reopening"\n      this.#map.nextOrder(shard)`,
    to: "      return this.#stopped(shard, home, order, now)",
  },
  {
    bug: "shards of a silent region are given away",
    from: "if (this.#reports.size === this.#members.size)",
    to: "if (this.#reports.size > 0)",
  },
  {
    bug: "a home is asked to stop before all regions hold back",
    from: `if (move.stage !== "holding" || move.awaited.size > 0) continue`,
    to: `if (move.stage !== "holding") continue`,
  },
  {
    bug: "regions are told of a home that has not confirmed",
    from: "this.#map.granted.set(shard, { node, order })",
    to: "this.#map.homes.set(shard, node)",
  },
  {
    bug: "a late report changes the map",
    from: "for (const shard of isFirst ? report.shards : [])",
    to: "for (const shard of report.shards)",
  },
  {
    bug: "shards move while a member cannot be reached",
    from: "if (!areAllThere || nodes.length === 0) return []",
    to: "if (nodes.length === 0) return []",
  },
  {
    bug: "a shard that stopped before is given away",
    from: "if (!this.#map.isStoppedBy(shard, from, order)) return",
    to: "if (this.#map.homes.get(shard) !== from) return",
  },
  {
    bug: "an abandoned move is repeated at once",
    from: "this.#backoff.failed(shard, now)",
    to: "",
  },
])("a scenario finds that $bug", async (change) => {
  const url = new URL("./coordinator.ts", import.meta.url)
  const planted = await importPlanted<{ Coordinator: typeof Coordinator }>(url, change)
  expect(firstFailing(SCENARIOS, sceneOf(planted.Coordinator))).toBeDefined()
})

function sceneOf(type: typeof Coordinator): Scene {
  return () => {
    let now = 0
    let allocation: ShardAllocation = leastShards({ limit: 2 })
    let startsAll = false
    const coordinator = new type("a", {
      shardCount: 4,
      handOffMs: () => 1_000,
      allocation: () => allocation,
      startsAll: () => startsAll,
    })
    const shown = (commands: readonly CoordinatorCommand[]) => commands.map(show).join(", ")
    return (line) => {
      const [what = "", ...rest] = line.split(" ")
      switch (what) {
        case "view": {
          const [leader, ...members] = rest
          return shown(coordinator.viewed(members.map(memberOf), leader === "-" ? undefined : leader, now))
        }
        case "tick":
          now += Number(rest[0])
          return shown(coordinator.tick(now))
        case "remembers":
          startsAll = true
          return ""
        case "allocation":
          allocation = { allocate: () => "nobody", rebalance: () => new Map([[0, "nobody"]]) }
          return ""
        case "fenced":
          coordinator.fenced()
          return coordinator.state
        case "state":
          return coordinator.state
        default: {
          const term = { number: Number(what.slice(1, -1)) || 1, node: what.slice(-1) }
          return shown(coordinator.receive(messageOf(rest), what[0] as string, term, now))
        }
      }
    }
  }
}

/** `b`, `b:leaving` or `b!`, which cannot be reached. */
function memberOf(text: string) {
  const [node = "", status = "up"] = text.replace("!", "").split(":")
  return { node, status: status as MemberStatus, isReachable: !text.endsWith("!") }
}

function messageOf([kind = "", ...rest]: readonly string[]): RegionMessage {
  const [first = "", order, by = ""] = rest
  const numbers = first === "-" || first === "" ? [] : first.split(",").map(Number)
  switch (kind) {
    case "report":
      return { kind, shards: numbers, isOpen: !rest.includes("shut"), isLeaving: rest.includes("leaving") }
    case "get-shard-homes":
      return { kind, shards: numbers }
    case "hand-off-acknowledged":
      return { kind, shard: Number(first), order: Number(order), by }
    case "outranked":
      return { kind }
    default:
      return { kind, shard: Number(first), order: Number(order) } as RegionMessage
  }
}

function show(command: CoordinatorCommand): string {
  switch (command.kind) {
    case "send": {
      const { kind, ...fields } = command.message
      const term = command.term.number === 1 ? "" : ` (term ${command.term.number})`
      return `${command.to}: ${[kind, ...Object.values(fields)].join(" ")}${term}`
    }
    case "move-abandoned":
      return `abandoned ${command.shard} from ${command.from} to ${command.to} while ${command.stage}`
    case "hosted-twice":
      return `hosted twice ${command.shard} by ${command.nodes}`
    case "allocation-failed":
      return `allocation failed: ${(command.error as Error).message}`
  }
}
