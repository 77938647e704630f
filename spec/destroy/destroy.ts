import type { Model } from "../explorer/model.js"
import { worldText } from "../registry-code/world-text.js"
import { Here } from "./here.js"
import type { Setting } from "./setting.js"
import { activationSteps, requestSteps } from "./steps.js"
import { headIn, type Left, type World } from "./world.js"

/**
 * The lives of one actor, which is saved, destroyed and created again by activations that follow each other:
 * the production decisions `Destruction`, `Removal` and `Save`, with the commits of `src/registry`, over the
 * store of `registry-code`.
 *
 * That the doors of an activation are shut before the next one has claimed the actor is what the other models
 * show; here an activation ends when the next one claims, and what it has sent arrives at any later time.
 */
export function destroy(setting: Setting): Model<World> {
  return {
    name: setting.name,
    initial: [initialWorld(setting)],
    *steps(world) {
      const here = new Here(world, setting)
      yield* activationSteps(here)
      yield* requestSteps(here)
    },
    invariants: {},
    text: worldText<World>(["store", "requests"]),
    tell,
  }
}

function initialWorld({ left }: Setting): World {
  return {
    store: [],
    activation: undefined,
    requests: [],
    ...{ lives: 0, destroyed: 0, isForgotten: false },
    left: { ...NOTHING_LEFT, ...left },
  }
}

const NOTHING_LEFT: Left = { losses: 0, saves: 0, destroys: 0, moves: 0, ends: 0, forgets: 0 }

function tell(world: World): string {
  const { kind, life, rows, remembers, revision } = headIn(world)
  const { activation, requests, destroyed } = world
  const { head, generation, destruction, save, removal } = activation ?? {}
  return [
    `stored ${kind} ${life} at ${revision}, rows [${rows}]${remembers ? ", remembers" : ""}`,
    `destroyed ${destroyed}`,
    activation === undefined
      ? "no activation"
      : `activation ${generation} has ${head?.kind} ${head?.life}, ${destruction ?? "alive"}${save === undefined ? "" : `, saving ${save.head.kind} ${save.head.life}`}${removal === undefined ? "" : ", removing"}`,
    ...requests.map(
      ({ isAwaited, isRemoval }) => `${isRemoval ? "removal" : "commit"}${isAwaited ? "" : ", not awaited"}`,
    ),
  ].join(" | ")
}
