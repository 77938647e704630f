import type { Step, Verdict } from "../explorer/model.js"
import { isOpen } from "../registry-code/model-store.js"
import { copy } from "../registry-code/world.js"
import type { Bug, Setting } from "./setting.js"
import type { Limit, World } from "./world.js"

export type Invariant = "NoResurrection" | "NothingLeft" | "Remembered" | "OnlyTombstones" | "Undisturbed"

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
    // A request that nobody awaits and that can never be accepted has no effect.
    next.requests = next.requests
      .filter((request) => request.isAwaited || isOpen(next, request))
      .map((request) => ({ request, text: JSON.stringify(request) }))
      .sort((a, b) => (a.text < b.text ? -1 : 1))
      .map(({ request }) => request)
    return { label, state: next, verdicts }
  }

  may(what: Limit): boolean {
    return this.world.left[what] > 0
  }

  has(bug: Bug): boolean {
    return this.setting.bugs.includes(bug)
  }
}
