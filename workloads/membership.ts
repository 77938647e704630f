import type { Stage, Workload } from "../src/sim/index.js"
import { awaitAgreement } from "./membership/agreement.js"
import { comeAndGo } from "./membership/join-scenes.js"
import { badLink, badNetwork, partition } from "./membership/network-scenes.js"
import { deadSeed, manyRestart, rejoinAtOnce } from "./membership/restart-scenes.js"
import type { Scene } from "./membership/scene.js"
import { pauses, silent } from "./membership/silence-scenes.js"
import { storeAlone } from "./membership/store-scenes.js"
import { agreedMs, drawTerms } from "./membership/terms.js"
import { Town } from "./membership/town.js"
import { ViewLedger } from "./membership/view-ledger.js"

/**
 * Two to nine nodes, which find each other by seeds or through a store, and lose each other. Each seed plays
 * one scene: something that happens to nodes that agree, with what must follow from it; or a minute of the
 * faults that the seed has drawn. In the end, whatever has happened, all agree.
 */
export const membership: Workload = {
  name: "membership",
  about: "nodes that find each other by seeds or through a store, and lose each other",
  faults: ["crash", "pause", "partition", "one-way-partition", "reset", "clock-drift"],
  floors: { operations: 1 },
  limits: { virtualMs: 1_200_000 },
  async run(stage) {
    for (const place of Object.values(scenes).flatMap(({ places }) => places)) stage.sometimes(place, false)
    const scene = scenes[stage.knob("scene", drawn)]
    const town = new Town(stage, drawTerms(stage, scene.needs))
    new ViewLedger(stage)
    if (scene.isWild !== true) stage.calm()
    begin(stage, town)
    if (scene.isWild !== true) {
      await awaitAgreement(town, { name: "all agree at the beginning", withinMs: agreedMs(town.terms) })
    }
    await scene.play(town)
    stage.calm()
    for (const machine of town.inhabited) stage.boot(machine)
    // Until what was on these machines before is forgotten.
    await stage.sleep(1)
    await awaitAgreement(town, { name: "all agree in the end", withinMs: agreedMs(town.terms) })
    stage.operation()
  },
}

/** Whatever faults the seed has drawn strike for a minute. */
const nemesis: Scene = {
  needs: {},
  places: ["faults strike by seeds", "faults strike by the store"],
  isWild: true,
  async play({ stage, terms }) {
    await stage.sleep(60_000)
    stage.sometimes(`faults strike by ${terms.by === "seeds" ? "seeds" : "the store"}`)
  },
}

const scenes = {
  partition,
  badNetwork,
  badLink,
  manyRestart,
  rejoinAtOnce,
  deadSeed,
  comeAndGo,
  pauses,
  silent,
  storeAlone,
  nemesis,
}

const often: readonly (keyof typeof scenes)[] = ["partition", "nemesis"]
const drawn: readonly (keyof typeof scenes)[] = [
  ...(Object.keys(scenes) as (keyof typeof scenes)[]),
  ...often,
  ...often,
]

function begin(stage: Stage, town: Town): void {
  const isTogether = stage.knob("start", ["together", "one after another"]) === "together"
  for (let count = 0; count < town.terms.nodes; count += 1) {
    town.settle(isTogether ? 0 : stage.random.between(0, 10_000))
  }
}
