import { ActorId } from "../../src/index.js"
import { LEASES, NODES } from "../../src/registry/node-record.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import type { Stage } from "../../src/sim/index.js"
import type { Cluster } from "./cluster.js"
import type { Host } from "./host.js"

/**
 * Once the faults are over and some time has passed: every node can call every actor, all agree, and nothing
 * is left over.
 */
export async function checkConvergence(
  stage: Stage,
  cluster: Cluster<Host>,
  ids: readonly string[],
): Promise<void> {
  const { machines, namespace, residents, store } = cluster
  const agree = (holds: boolean, detail: () => string) => stage.always("Convergence", holds, detail)
  for (const machine of machines) {
    agree(residents.has(machine), () => `there is no system on ${machine}`)
    const problems = await stage.on(machine, () => callAll(residents.get(machine) as Host, ids))
    agree(problems.length === 0, () => `calls from ${machine}: ${problems.join("; ")}`)
  }
  // Actors that were activated for this may have sent one-way messages, which nobody waits for.
  await stage.sleep(300)
  const nodes = await Promise.all(
    machines.map((machine) => stage.on(machine, () => (residents.get(machine) as Host).node)),
  )
  const alive = nodes.map(({ registry }) => registry.node.toString()).sort()
  for (const prefix of [NODES, LEASES]) {
    const there = keysOf(cluster, prefix)
    agree(`${there}` === `${alive}`, () => `${prefix} has ${there}, and there are ${alive}`)
  }
  for (const { name, registry, actors } of nodes) {
    agree(registry.mayAct(), () => `${name} is not a member`)
    const seen = registry.view.members.map(({ node, status }) => `${node} ${status}`)
    const truth = alive.map((node) => `${node} up`)
    agree(`${seen}` === `${truth}`, () => `${name} sees ${seen}, and there are ${truth}`)
    agree(actors.routes === 0, () => `${name} has ${actors.routes} routes left`)
    agree(actors.resolving === 0, () => `${name} has ${actors.resolving} calls of others waiting`)
    const idle = [...registry.tenures()].filter(({ id }) => actors.catalog.get(id.name) === undefined)
    agree(idle.length === 0, () => `${name} holds ${idle.map(({ id }) => id)}, and runs none of them`)
  }
  for (const id of ids) {
    const [type = "", key = ""] = id.split("/")
    const actor = ActorId.of(namespace, type, key)
    for (const machine of machines) {
      // The hint may be stale, but what the store shows must replace it.
      const known = await stage.on(machine, async () => {
        const registry = residents.get(machine)?.node.registry
        await registry?.read(actor)
        return registry?.cached(actor)
      })
      const [entry] = store.list(`${namespace}/${PLACEMENTS}${id}`).entries
      agree(
        known?.kind !== "placed" || entry === undefined || known.generation === entry.revision,
        () => `${machine} has ${id} as of ${JSON.stringify(known)}, not ${entry?.revision}`,
      )
    }
  }
}

/** Once all have left, nothing of them stays. */
export async function checkEmpty(stage: Stage, cluster: Cluster<Host>): Promise<void> {
  const { machines, residents } = cluster
  cluster.isClosing = true
  await Promise.all(machines.map((machine) => stage.on(machine, () => residents.get(machine)?.node.leave())))
  for (const prefix of [NODES, LEASES]) {
    const left = keysOf(cluster, prefix)
    stage.always("Convergence", left.length === 0, () => `all have left, and ${prefix} has ${left}`)
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

function keysOf({ namespace, store }: Cluster<Host>, prefix: string): readonly string[] {
  const start = `${namespace}/${prefix}`
  return store
    .list(start)
    .entries.map(({ key }) => key.slice(start.length))
    .sort()
}
