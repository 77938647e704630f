import type { Step, Verdict } from "../explorer/model.js"
import { normalise } from "./normal-form.js"
import type { Setting } from "./setting.js"
import { type Check, isOpen } from "./store.js"
import { newRequest } from "./walk.js"
import { entryOf, type Process, processOf, type Request, UNLIMITED, type World } from "./world.js"
import { worldText } from "./world-text.js"

/** Where a step begins. */
export class Here {
  readonly world: World
  readonly setting: Setting
  readonly #text: string

  constructor(world: World, setting: Setting) {
    this.world = world
    this.setting = setting
    this.#text = worldText.write(world)
  }

  /** The step that leads to a copy of this world with the change made. */
  take(label: string, change: (next: World, check: Check) => void): Step<World> {
    const next = worldText.read(this.#text)
    const verdicts: Verdict[] = []
    change(next, (invariant, holds) => verdicts.push({ invariant, holds }))
    tidy(next, this.setting)
    normalise(next)
    return { label, state: next, verdicts }
  }

  may(what: keyof World["left"]): boolean {
    return this.world.left[what] > 0
  }
}

export function processAt(world: World, at: number): Process {
  return world.processes[at] as Process
}

export function spend(world: World, what: keyof World["left"]): void {
  if (world.left[what] < UNLIMITED) world.left[what] -= 1
}

export function send(world: World, request: Partial<Request>): void {
  world.requests.push({ ...newRequest(), isAwaited: true, ...request })
}

/** Forgets what can make no difference any more. */
export function tidy(world: World, { bugs, isSightPrompt }: Setting): void {
  if (world.requests.length > 0) {
    world.requests = world.requests.filter(
      (request) => request.isAwaited || request.stage !== "sent" || isOpen(world, request, bugs),
    )
    for (const request of world.requests)
      if (!mayBeHeard(world, request)) request.sentAge = { mono: 0, wall: 0 }
  }
  for (const process of world.processes) {
    process.sights = process.sights.filter(({ id }) => (entryOf(world, id)?.lease ?? 0) > 0)
  }
  if (isSightPrompt) for (const process of world.processes) seeAll(world, process)
}

/** Whether a yes would still tell its sender something: how long ago it was sent makes no difference otherwise. */
export function mayBeHeard({ processes }: World, { kind, by }: Request): boolean {
  const { id, phase } = processes[processOf(by)] as Process
  return id === by && (kind === "renew" ? phase === "up" : kind === "join" && phase === "joining")
}

function seeAll({ nodes }: World, { phase, id: own, sights }: Process): void {
  if (phase === "off") return
  for (const { id, lease } of nodes) {
    if (id === own || lease === 0 || sights.some((sight) => sight.id === id)) continue
    sights.push({ id, age: 0 })
  }
}
