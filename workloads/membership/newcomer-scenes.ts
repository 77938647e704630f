import { awaitAgreement } from "./agreement.js"
import { awaitAgreed } from "./network-scenes.js"
import { checkSpared, type Scene } from "./scene.js"
import { decidedMs, joinedMs, silentMs, spreadMs, stoppedMs } from "./terms.js"
import type { Town } from "./town.js"

/** Nodes join, and all older ones stop at once, whether the new ones are up by then or still joining. */
export const blueGreen: Scene = {
  needs: {},
  places: ["all members stop while others join", "all members stop once others are up"],
  async play(town) {
    const { stage, terms } = town
    const { random } = stage
    const old = [...town.inhabited]
    const newcomers = Array.from({ length: random.between(1, 3) }, () => town.settle())
    while (!newcomers.every((machine) => statusOf(town, machine, old) !== undefined)) await stage.sleep(20)
    await stage.sleep(random.chance(0.5) ? random.between(0, 1_000) : random.between(0, 8_000))
    const areUp = newcomers.every((machine) => statusOf(town, machine, old) === "up")
    stage.sometimes(`all members stop ${areUp ? "once others are up" : "while others join"}`)
    await Promise.all(old.map((machine) => town.leave(machine)))
    await awaitAgreement(town, {
      name: "a cluster outlives its members if others have joined",
      withinMs: stoppedMs(terms),
    })
    for (const machine of old) town.comeBack(machine)
    await awaitAgreement(town, {
      name: "all agree after nodes have come and gone",
      withinMs: 2 * joinedMs(terms),
    })
  },
}

/** Nodes die as they join, one after the other, each on a machine of its own. */
export const crashingNewcomers: Scene = {
  needs: { by: "seeds", strategies: ["majority", "oldest", "oldest-even-alone", "all-down"] },
  places: ["as many nodes as there are members die as they join"],
  async play(town) {
    const { stage, terms } = town
    const { random } = stage
    const sinceMs = stage.nowMs
    const old = [...town.inhabited]
    const diedMs = new Map<string, number>()
    const count = random.between(1, terms.nodes + 2)
    for (let nth = 0; nth < count; nth += 1) {
      const machine = town.settle()
      while (statusOf(town, machine, old) === undefined) await stage.sleep(20)
      await stage.sleep(random.between(0, 100))
      town.inhabited.splice(town.inhabited.indexOf(machine), 1)
      town.crash(machine)
      diedMs.set(machine, stage.nowMs)
    }
    await stage.sleep(decidedMs(terms))
    const raised = town.toldSince(sinceMs, "up").filter(({ node }) => diedMs.has(town.machineOf(node) ?? ""))
    for (const { node, by, atMs } of raised) {
      const died = diedMs.get(town.machineOf(node) as string) as number
      stage.always(
        "a node that has died is not moved up",
        atMs <= died + spreadMs(terms),
        () => `${by} tells that ${node} is up, which died ${Math.round(atMs - died)} ms before`,
      )
    }
    stage.always("a node that has died is not moved up", true)
    if (raised.length === 0) checkSpared(town, sinceMs, [...diedMs.keys()])
    stage.sometimes(
      "as many nodes as there are members die as they join",
      raised.length === 0 && count >= terms.nodes,
    )
  },
}

/** Nodes join while a member has fallen silent, which nobody takes for a sign of its life. */
export const joinsBesideSilence: Scene = {
  needs: { fewest: 3, strategies: ["majority"] },
  places: ["nodes join while a member is silent"],
  async play(town) {
    const { stage, terms } = town
    const { random } = stage
    const machine = random.pick(town.inhabited)
    const others = town.inhabited.filter((other) => other !== machine)
    const node = town.nodeOn(machine) as string
    const sinceMs = stage.nowMs
    const told = (...what: Parameters<Town["toldSince"]>[1][]) =>
      town.toldSince(sinceMs, ...what).filter((each) => each.node === node && others.includes(each.by))
    town.cutBetween([machine], others)
    if (terms.by === "seeds" && random.chance(0.5)) town.crash(machine)
    await stage.sleep(silentMs(terms, false))
    const stillMs = Math.max(sinceMs, ...told("unreachable").map(({ atMs }) => atMs))
    const count = random.between(1, 4)
    for (let nth = 0; nth < count; nth += 1) town.cutBetween([machine], [town.settle()])
    await stage.sleep(stillMs + 1.3 * terms.stableAfterMs + spreadMs(terms) + 1_000 - stage.nowMs)
    const [again] = told("reachable")
    stage.always(
      "a silent member stays unreachable, whoever joins",
      again === undefined,
      () => `${again?.by} tells that ${node} can be reached`,
    )
    // With a store they are members at once, and each of these starts the time again.
    if (terms.by === "seeds")
      stage.always(
        "nodes that join do not put off what becomes of a silent member",
        told("downed", "removed").length > 0,
        () => `${node} is neither down nor removed`,
      )
    stage.sometimes("nodes join while a member is silent", told("unreachable").length > 0)
    stage.heal()
    if (!stage.isUp(machine)) stage.boot(machine)
    await awaitAgreed(town)
  },
}

/** The machines are parted while nodes join, so that the sides do not know the same members. */
export const joinsAcrossCut: Scene = {
  needs: { by: "seeds" },
  places: ["a node comes up as the machines are parted", "a side survives though nodes were joining"],
  async play(town) {
    const { stage, terms } = town
    const { random } = stage
    const newcomers = Array.from({ length: random.between(1, 4) }, () => town.settle())
    await stage.sleep(random.between(0, 4 * terms.gossipIntervalMs + 1_000))
    const sides: [string[], string[]] = [[], []]
    for (const machine of town.inhabited) random.pick(sides).push(machine)
    const sinceMs = stage.nowMs
    town.cutBetween(...sides)
    await stage.sleep(decidedMs(terms) + joinedMs(terms) + terms.stableAfterMs)
    const isReady = (machine: string) => town.systemOn(machine)?.health().isReady === true
    const alive = sides.filter((side) => side.some(isReady))
    stage.always("at most one side survives, whoever was joining", alive.length <= 1, () =>
      sides.map((side) => `${side.filter(isReady)} of ${side} are members`).join("; "),
    )
    stage.sometimes(
      "a node comes up as the machines are parted",
      town
        .toldSince(sinceMs, "up")
        .some(({ node, atMs }) => atMs < sinceMs + 1_000 && newcomers.includes(town.machineOf(node) ?? "")),
    )
    stage.sometimes("a side survives though nodes were joining", alive.length === 1)
    stage.heal()
    await awaitAgreed(town)
  },
}

/** The status of the node on a machine as some of these others have it. */
function statusOf(town: Town, machine: string, others: readonly string[]): string | undefined {
  const host = town.stage.hostOf(machine)
  for (const other of others) {
    const member = town.systemOn(other)?.cluster.members.find(({ node }) => node.host === host)
    if (member !== undefined) return member.status
  }
  return undefined
}
