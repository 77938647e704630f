import { ActorId } from "../../src/index.js"
import { LEASES, NODES } from "../../src/registry/node-record.js"
import { actorKey, PLACEMENTS } from "../../src/registry/registry-keys.js"
import type { Stage } from "../../src/sim/index.js"
import type { Host } from "./host.js"
import type { ActivationShow } from "./show.js"

/** Once the faults are over and some time has gone by: everybody can call everything, all agree, and nothing is left over. */
export async function checkConvergence(
  stage: Stage,
  show: ActivationShow,
  machines: readonly string[],
): Promise<void> {
  const agree = (holds: boolean, detail: () => string) => stage.always("Convergence", holds, detail)
  for (const machine of machines) {
    agree(show.hosts.has(machine), () => `there is no system on ${machine}`)
    const problems = await stage.on(machine, () => callAll(show.hosts.get(machine) as Host, show.ids))
    agree(problems.length === 0, () => `calls from ${machine}: ${problems.join("; ")}`)
  }
  // Actors that were activated for this may have sent one-way messages, which nobody waits for.
  await stage.sleep(300)
  const hosts = await Promise.all(
    machines.map((machine) => stage.on(machine, () => show.hosts.get(machine) as Host)),
  )
  const alive = hosts.map(({ registry }) => registry.node.toString()).sort()
  for (const prefix of [NODES, LEASES]) {
    const there = keysOf(show, prefix)
    agree(`${there}` === `${alive}`, () => `${prefix} has ${there}, and there are ${alive}`)
  }
  for (const [index, host] of hosts.entries()) {
    const { registry, actors } = host
    const machine = machines[index] as string
    const seen = registry.view.members.map(({ node, status }) => `${node} ${status}`)
    const truth = alive.map((node) => `${node} up`)
    agree(`${seen}` === `${truth}`, () => `${machine} sees ${seen}, and there are ${truth}`)
    agree(actors.routes === 0, () => `${machine} has ${actors.routes} routes left`)
    agree(actors.resolving === 0, () => `${machine} has ${actors.resolving} calls of others waiting`)
    const idle = [...registry.tenures].filter(({ id }) => actors.catalog.get(actorKey(id)) === undefined)
    agree(idle.length === 0, () => `${machine} holds ${idle.map(({ id }) => id)}, and runs none of them`)
    for (const id of show.ids) {
      const [type = "", key = ""] = id.split("/")
      const where = registry.cached(ActorId.of(show.namespace, type, key))
      if (where?.kind !== "placed") continue
      const [entry] = show.store.list(`${show.namespace}/${PLACEMENTS}${id}`).entries
      agree(
        entry === undefined || where.generation === entry.revision,
        () => `${machine} has ${id} at ${where.generation}, not ${entry?.revision}`,
      )
    }
  }
}

async function callAll(host: Host, ids: readonly string[]): Promise<readonly string[]> {
  const problems: string[] = []
  await Promise.all(
    ids.map(async (id) => {
      const problem = await host.callOnce(id)
      if (problem !== undefined) problems.push(`${id}: ${problem}`)
    }),
  )
  return problems
}

function keysOf(show: ActivationShow, prefix: string): readonly string[] {
  const start = `${show.namespace}/${prefix}`
  return show.store
    .list(start)
    .entries.map(({ key }) => key.slice(start.length))
    .sort()
}
