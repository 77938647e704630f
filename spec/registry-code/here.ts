import type { Step, Verdict } from "../explorer/model.js"
import { sightsOf } from "./decisions.js"
import { isOpen } from "./model-store.js"
import { normalise } from "./normal-form.js"
import type { Setting } from "./setting.js"
import { copy, type Limit, nodeOf, type Process, type World } from "./world.js"

export type Invariant =
  | "SingleActivation"
  | "FencedWrites"
  | "PlacementConsistency"
  | "NoAckedLoss"
  | "TrueAnswers"
  | "DownIsHeeded"
  | "OneLateRenewal"
  | "CacheOrder"
  | "TwoForwards"

/** Records whether an invariant held in a step. */
export type Check = (invariant: Invariant, holds: boolean) => void

/** The world that a step begins in. */
export class Here {
  readonly world: World
  readonly setting: Setting

  constructor(world: World, setting: Setting) {
    this.world = world
    this.setting = setting
  }

  /** Makes the step to a copy of this world with the change applied. */
  take(label: string, change: (next: World, check: Check) => void): Step<World> {
    const next = copy(this.world)
    const verdicts: Verdict[] = []
    change(next, (invariant, holds) => verdicts.push({ invariant, holds }))
    tidy(next, this.setting)
    normalise(next)
    return { label, state: next, verdicts }
  }

  may(what: Limit): boolean {
    return this.world.left[what] > 0
  }
}

/** Drops requests that can no longer have an effect; where sights are prompt, processes see the leases. */
export function tidy(world: World, { isSightPrompt, bugs }: Setting): void {
  world.requests = world.requests.filter(
    (request) => request.isAwaited || request.answer !== undefined || isOpen(world, request, bugs),
  )
  for (const [at, process] of world.processes.entries()) {
    if (isSightPrompt && process.isUp) seeLeases(world, at, process)
  }
}

/** Shows a process all leases but its own, as a listing does. */
export function seeLeases(world: World, at: number, process: Process): void {
  const sights = sightsOf(process)
  const own = process.lease?.state.kind === "fenced" ? undefined : nodeOf(at, process)
  const there = leasesIn(world).filter(({ node }) => node !== own)
  for (const [node] of process.sights) if (!there.some((lease) => lease.node === node)) sights.gone(node)
  for (const { node, revision } of there) sights.saw(node, revision, 0)
  process.sights = sights.snapshot.map(([node, sight]) => [node, { ...sight }])
}

export function leasesIn({ store }: World): { node: string; revision: number }[] {
  return store
    .filter(({ key }) => key.startsWith("leases/"))
    .map(({ key, revision }) => ({ node: key.slice("leases/".length), revision }))
}
