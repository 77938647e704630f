import type { Model } from "../explorer/model.js"
import { activationSteps } from "./activation-steps.js"
import { callSteps } from "./call-steps.js"
import { newLease } from "./decisions.js"
import { Drivers } from "./drivers.js"
import { Here, tidy } from "./here.js"
import { leaseSteps, ticks } from "./lease-steps.js"
import { normalise } from "./normal-form.js"
import { arrive, requestSteps } from "./request-steps.js"
import type { Setting } from "./setting.js"
import { type Left, letter, nodeOf, noProcess, type Process, type World } from "./world.js"
import { worldText } from "./world-text.js"

/**
 * The registry as it is built: the production decisions of `src/registry` in two processes, with the commits
 * that their drivers send, over a store that judges commits by their conditions alone.
 *
 * The model contains no protocol of its own. Whether a door is open, what a lease does after a lost answer,
 * what a claim is conditioned on: the production code answers. The model adds the drivers, in a few lines
 * (`drivers.ts`), since those of production are asynchronous; and time, faults and the invariants.
 *
 * Each step makes the decisions from their snapshots. A decision that kept anything beside its snapshot would
 * behave differently here.
 *
 * Not modelled: a store that loses commits or begins a new epoch; more than two processes that host actors,
 * or more than one actor; the production drivers with their timers, and the places of the doors in the
 * runtime. Simulation covers those.
 */
export function registryCode(setting: Setting): Model<World> {
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
      RecordWithLease: ({ store }) => {
        const nodes = (prefix: string): string =>
          store
            .filter(({ key }) => key.startsWith(prefix))
            .map(({ key }) => key.slice(prefix.length))
            .join()
        return nodes("nodes/") === nodes("leases/")
      },
    },
    text: worldText<World>(["store", "processes", "requests", "words"]),
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
    caller: setting.left.calls === undefined ? undefined : { cache: undefined, call: undefined },
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
  calls: 0,
}

function tell({ store, processes, requests, words, caller }: World): string {
  return [
    ...store.map(({ key, revision, value }) => `${key}@${revision}${valueText(key, value)}`),
    ...processes.map(tellProcess),
    ...requests.map(
      ({ kind, by, isAwaited, answer }) =>
        `${kind} by ${by}${answer === undefined ? "" : ` ${answer.kind}`}${isAwaited ? "" : ", not awaited"}`,
    ),
    ...words.map(({ to, hint }) => `word to ${letter(to)} of ${hint.node ?? "nobody"}@${hint.revision}`),
    ...(caller?.call === undefined ? [] : [`call ${caller.call.stage} ${caller.call.node ?? ""}`.trim()]),
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
