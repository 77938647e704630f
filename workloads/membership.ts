import type { Stage, Workload } from "../src/sim/index.js"
import { awaitAgreement } from "./membership/agreement.js"
import { drawn, type SceneName, scenes } from "./membership/scenes.js"
import { agreedMs, drawTerms } from "./membership/terms.js"
import { Town } from "./membership/town.js"
import { ViewLedger } from "./membership/view-ledger.js"

const shared: Omit<Workload, "run"> = {
  name: "membership",
  about: "nodes that find each other by seeds or through a store, and lose each other",
  faults: ["crash", "pause", "partition", "one-way-partition", "reset", "clock-drift"],
  limits: { virtualMs: 1_200_000 },
}

/**
 * Two to nine nodes, which find each other by seeds or through a store, and lose each other. Each seed plays
 * one scene: something that happens to nodes that agree, with what must follow from it; or a minute of the
 * faults that the seed has drawn. In the end, whatever has happened, all agree.
 */
export const membership: Workload = {
  ...membershipOf(drawn()),
  floors: {
    operations: 1,
    faults: 2,
    sometimes: {
      "a side survives a partition": 0.05,
      "no side survives a partition": 0.02,
      "a loser comes back": 0.05,
      "a node with a bad network is downed": 0.01,
    },
  },
}

/** The workload with these scenes alone, of which each seed draws one. */
export function membershipOf(names: readonly SceneName[]): Workload {
  return { ...shared, run: (stage) => play(stage, names) }
}

async function play(stage: Stage, names: readonly SceneName[]): Promise<void> {
  for (const name of names) for (const place of scenes[name].places) stage.sometimes(place, false)
  const scene = scenes[stage.knob("scene", names)]
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
}

function begin(stage: Stage, town: Town): void {
  const isTogether = stage.knob("start", ["together", "one after another"]) === "together"
  for (let count = 0; count < town.terms.nodes; count += 1) {
    town.settle(isTogether ? 0 : stage.random.between(0, 10_000))
  }
}
