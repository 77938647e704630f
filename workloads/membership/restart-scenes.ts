import { awaitAgreement, disagreement } from "./agreement.js"
import { checkSpared, type Scene } from "./scene.js"
import { agreedMs, DRIFT_MARGIN, decidedMs, joinedMs, sparing } from "./terms.js"
import type { Town } from "./town.js"

/** Half of the nodes, or all, restart at once: each process is back after up to 10 s. */
export const manyRestart: Scene = {
  needs: {},
  places: ["half of the nodes restart at once", "all nodes restart at once"],
  async play(town) {
    const { stage, terms, inhabited } = town
    const isAll = stage.random.chance(0.4)
    const [first, ...others] = [...inhabited].sort(() => (stage.random.chance(0.5) ? 1 : -1))
    const half = Math.ceil(inhabited.length / 2)
    const victims = isAll ? inhabited : [first as string, ...others].slice(0, half)
    stage.sometimes(`${isAll ? "all" : "half of the"} nodes restart at once`)
    const former = victims.map((machine) => town.nodeOn(machine))
    for (const machine of victims) town.crash(machine)
    await Promise.all(
      victims.map(async (machine) => {
        await stage.sleep(stage.random.between(0, 10_000))
        stage.boot(machine)
      }),
    )
    await awaitAgreement(town, { name: "all agree after a restart of many", withinMs: agreedMs(terms) })
    checkGone(town, former)
  },
}

/** A process dies and is back at its address at once, before anybody has missed it. */
export const rejoinAtOnce: Scene = {
  needs: {},
  places: ["a node is back at its address at once", "the first seed is back at its address at once"],
  async play(town) {
    const { stage, terms, inhabited } = town
    const sinceMs = stage.nowMs
    const machine = stage.random.pick(inhabited)
    const former = town.nodeOn(machine)
    town.crash(machine)
    await stage.sleep(1)
    stage.boot(machine)
    const leaseMs = terms.by === "store" ? terms.ttlMs * (2 + DRIFT_MARGIN) : 0
    await awaitAgreement(town, {
      name: "a former incarnation is out within seconds, and blocks nobody",
      withinMs: joinedMs(terms) + leaseMs,
    })
    checkGone(town, [former])
    checkSpared(town, sinceMs, [machine])
    stage.sometimes("a node is back at its address at once")
    stage.sometimes("the first seed is back at its address at once", machine === "m0" && terms.by === "seeds")
  },
}

/** The first seed is dead for long: the others go on without it, and nodes join through another seed. */
export const deadSeed: Scene = {
  needs: { fewest: 3, strategies: sparing },
  places: ["a node joins while the first seed is dead", "a dead first seed comes back"],
  async play(town) {
    const { stage, terms, inhabited } = town
    const sinceMs = stage.nowMs
    const former = town.nodeOn("m0")
    inhabited.splice(inhabited.indexOf("m0"), 1)
    town.crash("m0")
    await awaitAgreement(town, { name: "all go on without the first seed", withinMs: decidedMs(terms) })
    town.settle()
    await awaitAgreement(town, { name: "a node joins through another seed", withinMs: joinedMs(terms) })
    stage.sometimes("a node joins while the first seed is dead")
    stage.always(
      "a node joins through another seed",
      disagreement(town) === undefined,
      () => disagreement(town) as string,
    )
    town.comeBack("m0")
    await awaitAgreement(town, { name: "the first seed finds its cluster", withinMs: joinedMs(terms) })
    stage.sometimes("a dead first seed comes back")
    checkGone(town, [former])
    checkSpared(town, sinceMs, ["m0"])
  },
}

function checkGone(town: Town, former: readonly (string | undefined)[]): void {
  for (const machine of town.inhabited) {
    const kept = town.systemOn(machine)?.cluster.members.find(({ node }) => former.includes(node.text))
    town.stage.always(
      "a former incarnation is gone",
      kept === undefined,
      () => `${machine} has ${kept?.node}`,
    )
  }
}
