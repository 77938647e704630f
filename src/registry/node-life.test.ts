import { join } from "node:path"
import { expect, test } from "vitest"
import { importPlanted } from "../../test/golden/planted-import.js"
import { expectScenarios, firstFailing, type Scene } from "../../test/golden/scenario-file.js"
import { NodeId } from "../address/node-id.js"
import { type LifeEvent, NodeLife } from "./node-life.js"

test("changes its phase as the scenarios say", async () => {
  await expectScenarios(SCENARIOS, sceneOf(NodeLife))
})

test.each([
  {
    bug: "a fenced node that was leaving comes back",
    from: `isLeaving ? "leaving" : "fenced"`,
    to: `"fenced"`,
  },
  {
    bug: "a leaving node becomes a member by a late join",
    from: "if (isLeaving) return this.#next(joined)",
    to: "",
  },
  {
    bug: "a fenced node keeps its lease",
    from: `"fenced", epoch: undefined,`,
    to: `"fenced",`,
  },
  {
    bug: "a stopped node keeps its lease",
    from: `"stopped", epoch: undefined,`,
    to: `"stopped",`,
  },
  {
    bug: "a leaving node joins again",
    from: `phase === "joining" || phase === "fenced",`,
    to: `phase !== "member",`,
  },
  {
    bug: "two values have the same version",
    from: "version: this.version + 1",
    to: "version: this.version",
  },
])("a scenario finds that $bug", async (change) => {
  const url = new URL("./node-life.ts", import.meta.url)
  const planted = await importPlanted<{ NodeLife: typeof NodeLife }>(url, change)
  expect(firstFailing(SCENARIOS, sceneOf(planted.NodeLife))).toBeDefined()
})

test("a value stays as it was published, and carries the cause of a fence until the next change", () => {
  const cause = new Error("the store is away")
  const member = NodeLife.begin(idOf(1)).after({ kind: "joined", epoch: "e1" })
  const fenced = member.after({ kind: "fenced", because: "the lease was ended", cause })
  const joining = fenced.after({ kind: "join-begun", node: idOf(2), because: "the node was fenced" })
  const again = joining.after({ kind: "joined", epoch: "e1" })
  expect([member, fenced, joining, again].map(shown)).toEqual([
    "2 member 1 in e1: the store confirmed the join",
    "3 fenced 1: the lease was ended",
    "4 joining 2: the node was fenced",
    "5 member 2 in e1: the store confirmed the join",
  ])
  expect([fenced.cause, joining.cause]).toEqual([cause, undefined])
  expect([member, fenced, joining, again].map(({ joins }) => joins)).toEqual([1, 1, 1, 2])
})

const SCENARIOS = join(import.meta.dirname, "node-life.scenarios.txt")

function sceneOf(Life: typeof NodeLife): Scene {
  return () => {
    let life = Life.begin(idOf(1))
    return (line) => {
      life = life.after(eventOf(line))
      return shown(life)
    }
  }
}

function eventOf(line: string): LifeEvent {
  const [what, ...rest] = line.split(" ")
  switch (what) {
    case "begin":
      return { kind: "join-begun", node: idOf(Number(rest[1])), because: "it tries again" }
    case "joined":
      return { kind: "joined", epoch: rest[0] as string }
    case "fenced":
      return { kind: "fenced", because: rest.join(" "), cause: undefined }
    case "leave":
      return { kind: "asked-to-leave" }
    case "stop":
      return { kind: "stopped" }
    default:
      throw new TypeError(`no event is called ${what}`)
  }
}

function shown({ version, phase, node, epoch, because }: NodeLife): string {
  const held = epoch === undefined ? "" : ` in ${epoch}`
  return `${version} ${phase} ${Number.parseInt(node.incarnation, 16)}${held}: ${because}`
}

function idOf(life: number): NodeId {
  return NodeId.of("10.0.0.1", 7_001, life.toString(16).padStart(16, "0"))
}
