import { ActorId } from "../../src/index.js"
import { LEASES, NODES } from "../../src/registry/node-record.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import type { Stage } from "../../src/sim/index.js"
import type { Host } from "./host.js"
import { readState, STATE } from "./kept-state.js"
import type { Play } from "./play.js"
import type { RegistryShow } from "./show.js"

/**
 * Once the faults are over and some time has gone by: nothing is under way any more, all agree with the store, the dead are gone,
 * and everything can be called. When all have left then, nothing of them stays.
 */
export async function checkConvergence(stage: Stage, show: RegistryShow, play: Play): Promise<void> {
  const agree = (holds: boolean, detail: () => string) => stage.always("Convergence", holds, detail)
  agree(play.underWay.length === 0, () => `operations that never end: ${play.underWay}`)
  const hosts = await Promise.all(
    play.machines.map((machine) => stage.on(machine, () => show.hosts.get(machine) as Host)),
  )
  const alive = hosts.map(({ registry }) => registry.node.toString()).sort()
  for (const prefix of [NODES, LEASES]) {
    const there = keysOf(show, prefix)
    agree(`${there}` === `${alive}`, () => `${prefix} has ${there}, and there are ${alive}`)
  }
  for (const { name, registry } of hosts) {
    agree(registry.isMember, () => `${name} is no member`)
    const seen = registry.view.members.map(({ node, status }) => `${node} ${status}`)
    const truth = alive.map((node) => `${node} up`)
    agree(`${seen}` === `${truth}`, () => `${name} sees ${seen}, and there are ${truth}`)
  }
  for (const id of show.ids) {
    for (const machine of play.machines) {
      const { op, outcome } = await play.operate(machine, id)
      agree(outcome.kind === "done", () => `${op} on ${id} at ${machine}: ${JSON.stringify(outcome)}`)
    }
    const [type = "", key = ""] = id.split("/")
    const actor = ActorId.of(show.namespace, type, key)
    const [entry] = show.store.list(`${show.namespace}/${PLACEMENTS}${id}`).entries
    for (const machine of play.machines) {
      const placement = await stage.on(machine, () => show.hosts.get(machine)?.registry.lookup(actor))
      agree(
        placement?.generation === entry?.revision,
        () => `${machine} has ${id} at ${placement?.generation}, not ${entry?.revision}`,
      )
    }
    const [state] = show.store.list(`${show.namespace}/${STATE}${id}`).entries
    stage.record({ kind: "kept", id, ops: state === undefined ? [] : readState(state.value).ops })
  }
  show.isClosing = true
  await Promise.all(play.machines.map((machine) => stage.on(machine, () => show.hosts.get(machine)?.leave())))
  for (const prefix of [NODES, LEASES]) {
    const left = keysOf(show, prefix)
    agree(left.length === 0, () => `all have left, and ${prefix} has ${left}`)
  }
}

function keysOf(show: RegistryShow, prefix: string): readonly string[] {
  const start = `${show.namespace}/${prefix}`
  return show.store
    .list(start)
    .entries.map(({ key }) => key.slice(start.length))
    .sort()
}
