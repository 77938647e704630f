import type { Model } from "../explorer/model.js"
import { worldText } from "../registry-code/world-text.js"
import { entitySteps } from "./entity-steps.js"
import { Here } from "./here.js"
import { homeSteps, lifeSteps, putRecord } from "./home-steps.js"
import { normalise } from "./normal-form.js"
import { requestSteps } from "./request-steps.js"
import type { Setting } from "./setting.js"
import { JOINED_AT, type Left, letter, type Node, nodeOf, SHARD, type World } from "./world.js"

/**
 * A shard and its entities, as nodes pass them on: the production decisions `Claim`, `Transfer`, `Adoption`
 * and `Save`, with the commits of `src/registry`, over the store of `registry-code`.
 *
 * Leases are not in it. That the doors of a node are shut before its record is gone is what `registry-code`
 * shows; here a node is fenced, at any time, before its record goes. So there is no time either, and there
 * can be more nodes, entities and faults.
 *
 * The first node has the shard at the start.
 */
export function shardCode(setting: Setting): Model<World> {
  return {
    name: setting.name,
    initial: [initialWorld(setting)],
    *steps(world) {
      const here = new Here(world, setting)
      yield* requestSteps(here)
      for (const at of world.nodes.keys()) {
        yield* lifeSteps(here, at)
        yield* homeSteps(here, at)
        for (let number = 0; number < setting.entities; number += 1) yield* entitySteps(here, at, number)
      }
    },
    invariants: {},
    text: worldText<World>(["store", "nodes", "requests", "notices"]),
    tell,
  }
}

function initialWorld({ nodes, entities, left }: Setting): World {
  const all = <T>(value: () => T): T[] => Array.from({ length: entities }, value)
  const world: World = {
    store: [{ key: SHARD, revision: 1, value: "a1" }],
    nodes: Array.from({ length: nodes }, () => ({
      phase: "member",
      lives: 1,
      spent: 0,
      home: undefined,
      entities: {},
    })),
    requests: [],
    notices: [],
    history: { loaded: all(() => 0), acked: all(() => 0), shown: all(() => ({ token: 0, life: 0 })) },
    left: { ...NOTHING_LEFT, ...left },
  }
  Object.assign(world.nodes[0] as Node, {
    spent: 1,
    home: {
      stage: "held",
      generation: 1,
      decision: { state: "open", generation: 1 },
      isOpen: true,
      isShut: false,
    },
  })
  for (const [at, node] of world.nodes.entries()) putRecord(world, nodeOf(at, node), "active", JOINED_AT)
  normalise(world)
  return world
}

const NOTHING_LEFT: Left = {
  losses: 0,
  slowAnswers: 0,
  claims: 0,
  transfers: 0,
  releases: 0,
  words: 0,
  starts: 0,
  saves: 0,
  ends: 0,
  hangs: 0,
  fences: 0,
  joins: 0,
  leaves: 0,
}

function tell({ store, nodes, requests, notices }: World): string {
  return [
    ...store.map(({ key, revision, value }) =>
      key.startsWith("nodes/") ? `${key} ${JSON.parse(value).status}` : `${key}@${revision} ${value}`,
    ),
    ...nodes.map(tellNode),
    ...requests.map(
      ({ kind, by, isAwaited, answer }) =>
        `${kind} by ${by}${answer === undefined ? "" : ` ${answer.kind}`}${isAwaited ? "" : ", not awaited"}`,
    ),
    ...notices.map(({ to, generation }) => `notice to ${letter(to)} of ${generation}`),
  ].join(" | ")
}

function tellNode(node: Node, at: number): string {
  const { phase, home, spent, entities } = node
  const words = [`${nodeOf(at, node)} ${phase}`]
  if (home?.stage === "held") words.push(`${home.decision.state} g${home.generation}`)
  else if (home !== undefined) words.push(home.stage)
  if (spent !== 0) words.push(`spent ${spent}`)
  for (const [number, entity] of Object.entries(entities)) {
    const saving = entity.save === undefined ? "" : ` saving ${entity.save.writeId}`
    words.push(`${number}: ${entity.stage} life ${entity.life} on ${entity.base}${saving}`)
  }
  return words.join(" ")
}
