import type { Stage, Workload } from "../src/sim/index.js"
import { District, REQUEST_MS } from "./regions/district.js"
import { awaitRest } from "./regions/rest.js"
import { drawn, restMs, type Scene, type SceneName, scenes } from "./regions/scenes.js"
import { drawTerms } from "./regions/terms.js"

const shared: Omit<Workload, "run"> = {
  name: "regions",
  about: "entities on nodes that join, leave and die, without a store",
  faults: ["crash", "pause", "partition", "one-way-partition", "reset", "clock-drift"],
  limits: { virtualMs: 1_200_000 },
}

/**
 * Two to five nodes by seeds, which send orders to the entities of one type. Each seed plays one scene. In the
 * end, whatever has happened, every ask has ended, all nodes agree on the homes of all shards, and every
 * entity answers everywhere.
 */
export const regions: Workload = {
  ...regionsOf(drawn()),
  floors: { operations: 10, faults: 0.5 },
}

/** The workload with these scenes alone, of which each seed draws one. */
export function regionsOf(names: readonly SceneName[]): Workload {
  return { ...shared, run: (stage) => play(stage, names) }
}

async function play(stage: Stage, names: readonly SceneName[]): Promise<void> {
  for (const name of names) for (const place of scenes[name].places) stage.sometimes(place, false)
  const scene: Scene = scenes[stage.knob("scene", names)]
  const district = new District(stage, drawTerms(stage, scene.needs))
  const { terms, messages } = district
  if (scene.isWild !== true) stage.calm()
  for (let count = 0; count < terms.nodes; count += 1) district.begin(stage.random.between(0, 3_000))
  if (scene.isWild !== true) await awaitRest(district, "all settle at the beginning", restMs(terms))
  await scene.play(district)
  stage.calm()
  for (const machine of district.inhabited) stage.boot(machine)
  await stage.sleep(1)
  await awaitRest(district, "all settle in the end", restMs(terms))
  district.isOver = true
  await stage.sleep(2 * REQUEST_MS)
  for (const machine of district.inhabited) {
    const open = messages.openAsks(district.nodeOn(machine)?.sender ?? "")
    stage.always("every ask ends", open === 0, () => `${open} asks of ${machine} have not ended`)
  }
  if (scene.isPlanned === true) {
    const { missing, failures } = messages
    if (scene.isSlow !== true)
      stage.always("without a crash no ask fails", failures.length === 0, () => failures.join("; "))
    stage.always("without a crash no message is lost", missing.length === 0, () => missing.join("; "))
  }
  await checkService(district)
}

/** Every entity answers each node. */
async function checkService(district: District): Promise<void> {
  const { stage, terms, inhabited } = district
  for (const machine of inhabited) {
    for (let number = 0; number < terms.entities; number += 1) {
      const entity = `e${number}`
      const isAnswered = await district.on(machine, (node) => district.ask(node, entity))
      stage.always("every entity answers in the end", isAnswered === true, () => `${machine} asks ${entity}`)
      stage.operation()
    }
  }
}
