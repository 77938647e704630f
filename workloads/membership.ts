import type { Workload } from "../src/sim/index.js"
import { PORT, Town } from "./membership/town.js"

export const membership: Workload = {
  name: "membership",
  about: "nodes that find each other by seeds, and lose each other",
  faults: ["crash", "pause", "partition", "one-way-partition", "reset", "clock-drift"],
  floors: { operations: 1 },
  limits: { virtualMs: 1_200_000 },
  async run(stage) {
    const count = stage.knob("nodes", [2, 3, 5, 7])
    const machines = Array.from({ length: count }, (_, at) => `m${at}`)
    const town: Town = new Town(stage, machines, (machine) => ({
      namespace: "town",
      listen: { host: stage.hostOf(machine), port: PORT, secret: "a secret of the town: 1234567890" },
      seeds: machines.slice(0, 3).map((seed) => town.addressOf(seed)),
    }))
    for (const machine of machines) town.start(machine)
    await stage.sleep(60_000)
    stage.calm()
    for (const machine of machines) if (!stage.isUp(machine)) stage.boot(machine)
    for (let s = 0; s < 120; s += 1) {
      await stage.sleep(1_000)
      if (agreement(town) === undefined) break
    }
    stage.always("all live nodes agree", agreement(town) === undefined, () => agreement(town) ?? "")
    stage.operation()
  },
}

function agreement(town: Town): string | undefined {
  const said = town.machines.map((machine) => {
    const system = town.systemOn(machine)
    if (system === undefined) return `${machine} is not up`
    const { members, unreachable, leader } = system.cluster
    const listed = members.map(({ node, status }) => `${node} ${status}`).join(", ")
    return `${listed}; unreachable ${[...unreachable.keys()].join()}; leader ${leader}`
  })
  const [first] = said
  const isSame = said.every((text) => text === first)
  const all = town.systems[0]?.cluster.members ?? []
  if (isSame && all.length === town.machines.length && all.every(({ status }) => status === "up"))
    return undefined
  return said.join("\n")
}
