import type { Model } from "../explorer/model.js"
import { worldText } from "../registry-code/world-text.js"
import { Here } from "./here.js"
import type { Setting } from "./setting.js"
import { activationSteps, callerSteps, requestSteps } from "./steps.js"
import { activated } from "./turns.js"
import { type Left, PLACEMENT, stateIn, type World } from "./world.js"

/**
 * Calls of `once` methods, from one process to one actor whose activations follow each other: the production
 * decisions `OperationLedger`, `OperationMemory`, `OutputGate` and `Save`, with the commits of `src/registry`,
 * over the store of `registry-code`.
 *
 * That the doors of an activation are shut before the next one has claimed the actor is what the other models
 * show; here an activation ends when the next one claims, and what it has sent arrives at any later time.
 */
export function durable(setting: Setting): Model<World> {
  return {
    name: setting.name,
    initial: [initialWorld(setting)],
    *steps(world) {
      const here = new Here(world, setting)
      yield* callerSteps(here)
      yield* activationSteps(here)
      yield* requestSteps(here)
    },
    invariants: {},
    text: worldText<World>(["store", "attempts", "answers", "requests"]),
    tell,
  }
}

function initialWorld({ operations, left }: Setting): World {
  const world: World = {
    store: [{ key: PLACEMENT, revision: 1, value: "" }],
    calls: operations.map(() => ({ phase: "idle", number: 0, attempts: 0 })),
    ledger: [],
    attempts: [],
    answers: [],
    requests: [],
    activation: undefined,
    said: {},
    left: { ...NOTHING_LEFT, ...left },
  }
  world.activation = activated(world, 1, [])
  return world
}

const NOTHING_LEFT: Left = { losses: 0, repeats: 0, giveUps: 0, throws: 0, moves: 0 }

function tell(world: World): string {
  const { calls, attempts, answers, requests, activation } = world
  const { applied, revision } = stateIn(world)
  return [
    `stored [${applied}] at ${revision}`,
    activation === undefined
      ? "no activation"
      : `activation ${activation.generation} has [${activation.applied}]${activation.save === undefined ? "" : " saving"}`,
    ...calls.map(({ phase, attempts: count }, of) => `${of} ${phase}, ${count} attempts`),
    ...attempts.map(({ of, isRepeat }) => `attempt at ${of}${isRepeat ? " again" : ""}`),
    ...answers.map(({ of, isError, value }) => `answer to ${of}: ${isError ? "threw" : value}`),
    ...requests.map(({ isAwaited }) => `commit${isAwaited ? "" : ", not awaited"}`),
  ].join(" | ")
}
