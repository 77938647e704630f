import { comeAndGo } from "./join-scenes.js"
import { badLink, badNetwork, partition, shortPartition } from "./network-scenes.js"
import { blueGreen, crashingNewcomers, joinsAcrossCut, joinsBesideSilence } from "./newcomer-scenes.js"
import { deadSeed, manyRestart, rejoinAtOnce } from "./restart-scenes.js"
import type { Scene } from "./scene.js"
import { pauses, silent } from "./silence-scenes.js"
import { storeAlone } from "./store-scenes.js"

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

export const scenes = {
  partition,
  shortPartition,
  badNetwork,
  badLink,
  manyRestart,
  rejoinAtOnce,
  deadSeed,
  comeAndGo,
  blueGreen,
  crashingNewcomers,
  joinsBesideSilence,
  joinsAcrossCut,
  pauses,
  silent,
  storeAlone,
  nemesis,
}

export type SceneName = keyof typeof scenes

/** The scenes to draw from, some of them more often than others because they have many variants. */
export function drawn(): readonly SceneName[] {
  const often: readonly SceneName[] = ["partition", "nemesis"]
  return [...(Object.keys(scenes) as SceneName[]), ...often, ...often]
}
