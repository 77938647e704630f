import type { Model } from "../explorer/model.js"
import { activationSteps } from "./activation-steps.js"
import { newLease } from "./decisions.js"
import { Drivers } from "./drivers.js"
import { Here, tidy } from "./here.js"
import { leaseSteps, ticks } from "./lease-steps.js"
import { normalise } from "./normal-form.js"
import { arrive, requestSteps } from "./request-steps.js"
import type { Setting } from "./setting.js"
import { type Left, letter, nodeOf, noProcess, type Process, type World } from "./world.js"

/**
 * The registry as it is built: the decisions of `src/registry` themselves, in two processes, with the commits that their drivers send, over a
 * store that judges these by their conditions and knows nothing else.
 *
 * The model beside this one (`../registry`) says what the protocol is, in its own words. This one has no words of its own for it: whether a
 * door is open, what a lease does after a lost answer, what a claim is conditioned on is asked of the production code. What it has of
 * its own are the drivers, in a few lines (`drivers.ts`), since those are asynchronous; and time, faults and the invariants, which
 * are those of the other model.
 *
 * A decision is made anew from its snapshot in every step, which is why each of them can be. One that kept anything
 * beside its snapshot would be told apart here.
 *
 * What it does not show: a store that loses commits or begins a new epoch; more than two processes or one actor; sharding; and
 * the drivers themselves, their timers, and the doors' places in the runtime. Simulation looks at those.
 */
export function registryCode(setting: Setting): Model<World> {
  return {
    name: setting.name,
    initial: [initialWorld(setting)],
    *steps(world) {
      const here = new Here(world, setting)
      yield* ticks(here)
      yield* requestSteps(here)
      for (const at of world.processes.keys()) {
        yield* leaseSteps(here, at)
        yield* activationSteps(here, at)
      }
    },
    invariants: {
      RecordWithLease: ({ store }) => {
        const nodes = (prefix: string): string =>
          store
            .filter(({ key }) => key.startsWith(prefix))
            .map(({ key }) => key.slice(prefix.length))
            .join()
        return nodes("nodes/") === nodes("leases/")
      },
    },
    tell,
  }
}

function initialWorld(setting: Setting): World {
  const world: World = {
    store: [],
    placedAt: 0,
    processes: setting.rates.map(noProcess),
    requests: [],
    words: [],
    history: { generation: 0, loaded: 0, acked: 0, lives: 0, lateRenewals: {} },
    left: { ...NOTHING_LEFT, ...setting.left },
  }
  for (const [at, process] of world.processes.entries()) {
    process.isUp = setting.joined !== "none"
    if (setting.joined === "both" || (setting.joined === "first" && at === 0)) join(world, at, setting)
  }
  tidy(world, setting)
  normalise(world)
  return world
}

function join(world: World, at: number, setting: Setting): void {
  const process = world.processes[at] as Process
  Object.assign(process, { lives: 1, lease: newLease() })
  const drivers = new Drivers(world, setting, () => {})
  drivers.doLease(at, { kind: "join", request: 1 })
  const { answer } = arrive(world, 0, setting, () => {})
  if (answer?.kind === "joined") drivers.tellLease(at, answer)
}

const NOTHING_LEFT: Left = {
  losses: 0,
  slowAnswers: 0,
  crashes: 0,
  downs: 0,
  leaves: 0,
  releases: 0,
  claims: 0,
  saves: 0,
  joins: 0,
  renewals: 0,
  giveUps: 0,
  words: 0,
}

function tell({ store, processes, requests, words }: World): string {
  return [
    ...store.map(({ key, revision, value }) => `${key}@${revision}${valueText(key, value)}`),
    ...processes.map(tellProcess),
    ...requests.map(
      ({ kind, by, isAwaited, answer }) =>
        `${kind} by ${by}${answer === undefined ? "" : ` ${answer.kind}`}${isAwaited ? "" : ", not awaited"}`,
    ),
    ...words.map(({ to, hint }) => `word to ${letter(to)} of ${hint.node ?? "nobody"}@${hint.revision}`),
  ].join(" | ")
}

function valueText(key: string, value: string): string {
  if (key.startsWith("leases/")) return ""
  return key.startsWith("nodes/") ? ` ${JSON.parse(value).status}` : ` ${value}`
}

function tellProcess(process: Process, at: number): string {
  const { isUp, lease, activation, sights, cache } = process
  const words = [isUp ? `${nodeOf(at, process)} ${lease?.state.kind}` : `${letter(at)} off`]
  const state = lease?.state
  if (state !== undefined && "deadline" in state) {
    words.push(`for ${state.deadline}`)
    if (state.pending !== undefined) words.push(`${state.pending.what} ${state.pending.request}`)
  }
  if (activation !== undefined)
    words.push(`${activation.stage} g${activation.generation} on ${activation.base}`)
  for (const [node, { revision, endAt }] of sights) words.push(`ends ${node}@${revision} in ${endAt}`)
  if (cache !== undefined) words.push(`thinks ${cache.node ?? "nobody"}@${cache.revision}`)
  return words.join(" ")
}
