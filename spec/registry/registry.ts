import type { Model } from "../explorer/model.js"
import { activationSteps } from "./activation-steps.js"
import { callSteps } from "./call-steps.js"
import { Here, tidy } from "./here.js"
import { leaseSteps, ticks } from "./lease-steps.js"
import { normalise } from "./normal-form.js"
import { nameOf, requestSteps } from "./request-steps.js"
import type { Setting } from "./setting.js"
import { emptyWorld } from "./walk.js"
import { idleProcess, nodeId, type Process, type World } from "./world.js"
import { worldText } from "./world-text.js"

/**
 * The protocol by which at most one activation of each actor runs: leases, claims, doors, saves and releases over a store that
 * commits on conditions. Two processes, one actor, and a store that is one atomic step per commit.
 *
 * A process keeps a lease and falls silent when it may have run out; others end it when it certainly has. While the lease holds,
 * nobody takes an actor from its node; when it has ended, anybody may. What a stale node still has under way is refused, because
 * every commit names the revisions it was made from. So there are two lines: time keeps the doors shut, and where a process was
 * frozen between a door and what it let through, conditions keep the store right.
 *
 * What can go wrong is in the setting: requests that arrive late or never, answers that are lost or late, crashes, clocks that
 * run fast and slow, machines that are paused, nodes that are downed while they live, nodes that leave and come back. A process
 * may be slow at any point: nothing happens by itself but the passing of time, and a deadline may be noticed at any time later.
 *
 * Time is in ticks and clocks in parts of a tick, kept as ages. Revisions, incarnations and the numbers of activations are ranks. So
 * leases are renewed and nodes come back as often as they like in finitely many states.
 *
 * What it does not show: a store that loses commits or starts a new epoch; more than two processes or one actor, and with them
 * strategies, order of messages and bounds on queues; reads that are stale (a read is one step, and whatever is then sent may be
 * late, which covers it where a commit follows); and that the code does what the model does. That is what `../registry-code` is for, and
 * simulation: its checkers have the same names.
 */
export function registry(setting: Setting): Model<World> {
  return {
    name: setting.name,
    initial: [initialWorld(setting)],
    *steps(world) {
      const here = new Here(world, setting)
      yield* ticks(here)
      yield* requestSteps(here)
      yield* callSteps(here)
      for (const at of world.processes.keys()) {
        yield* leaseSteps(here, at)
        yield* activationSteps(here, at)
      }
    },
    invariants: {
      RecordWithLease: ({ nodes }) => nodes.every(({ record, lease }) => record !== "none" && lease !== 0),
    },
    text: worldText,
    tell,
  }
}

function initialWorld(setting: Setting): World {
  const { rates, hasJoined, left } = setting
  const world = emptyWorld()
  Object.assign(world.left, left)
  for (const at of rates.keys()) {
    const id = nodeId(at, 1)
    if (!hasJoined) {
      world.processes.push(idleProcess("off"))
      continue
    }
    world.processes.push({ ...idleProcess("up"), id, recordRev: 1, lease: 1 })
    world.nodes.push({ id, record: "active", recordRev: 1, lease: 1, lateRenewals: 0 })
  }
  tidy(world, setting)
  normalise(world)
  return world
}

function tell({ nodes, placement, state, processes, requests, call }: World): string {
  const parts = [
    ...nodes.map(
      ({ id, record, recordRev, lease }) => `${nameOf(id)}: ${record}@${recordRev} lease@${lease}`,
    ),
    `placement@${placement.rev}: ${nameOf(placement.at)}`,
    `state@${state.rev}`,
    ...processes.map(tellProcess),
    ...requests.map(
      ({ kind, by, stage, isAwaited }) => `${kind} by ${nameOf(by)} ${stage}${isAwaited ? "" : ", late"}`,
    ),
  ]
  if (call.stage !== "none") parts.push(`call ${call.stage} to ${nameOf(call.to)}`)
  return parts.join(" | ")
}

function tellProcess({ phase, id, leaving, isUnsure, age, activation, sights }: Process, at: number): string {
  const words = [`${"abcd"[at]} ${phase}`]
  if (phase === "up") words.push(`${nameOf(id)} age ${age.mono}/${age.wall}`)
  if (leaving !== "no") words.push(`leaving ${leaving}`)
  if (isUnsure) words.push("unsure")
  const { stage, generation, base } = activation
  if (stage !== "none") words.push(`${stage} g${generation} on ${base}`)
  for (const sight of sights) words.push(`sees ${nameOf(sight.id)} for ${sight.age}`)
  return words.join(" ")
}
