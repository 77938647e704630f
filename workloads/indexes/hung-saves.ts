import { SeededRandom } from "../../src/sim/index.js"
import { sleep } from "../cluster/cluster.js"
import type { HeldSave, HeldSaves } from "../cluster/held-saves.js"
import type { NodeTap } from "../cluster/node-tap.js"
import type { ProfileType } from "./profile.js"
import { idOf } from "./stored-profiles.js"

/**
 * Changes profiles of its own while the first copy of one of their saves hangs, and lets the copy arrive when
 * it would do the most harm. The ledger sees if it does any.
 *
 *     rejected   x takes the name, hangs; y takes it; x is rejected; y gives it up; the copy of x arrives
 *     aba        x has a, takes b, hangs, and has it; x takes a again; the copy that takes b arrives
 *     destroyed  x is saved for the first time, hangs, and is there; x is destroyed; the copy arrives
 */
export class HungSaves {
  readonly #tap: NodeTap
  readonly #held: HeldSaves | undefined
  readonly #acts: Acts
  readonly #machine: string
  readonly #random: SeededRandom
  #isBusy = false

  constructor(tap: NodeTap, { held }: { readonly held: HeldSaves | undefined }, acts: Acts) {
    this.#tap = tap
    this.#held = held
    this.#acts = acts
    this.#random = new SeededRandom(tap.life.ports.random.uint32())
    this.#machine = tap.life.host.replaceAll(".", "-")
  }

  /** Tries one of them, if commits arrive late at all. */
  async try(type: ProfileType): Promise<void> {
    const held = this.#held
    if (held === undefined || this.#isBusy) return
    this.#isBusy = true
    const x = `x${this.#machine}`
    const save = { hold: () => held.arm(idOf(type, x)), type, x }
    try {
      await this.#random.pick([this.#rejected, this.#aba, this.#destroyed]).call(this, save)
    } finally {
      held.disarm(idOf(type, x))
      this.#isBusy = false
    }
  }

  async #rejected({ hold, type, x }: Tried): Promise<void> {
    const { name } = this.#acts
    const [y, taken] = [`y${this.#machine}`, `t${this.#machine}`]
    await name(type, x, "")
    await name(type, y, "")
    const save = hold()
    try {
      const taking = name(type, x, taken)
      taking.catch(() => {})
      await this.#left(save)
      await name(type, y, taken)
      const outcome = await taking
      await name(type, y, "")
      await this.#arrives(save)
      const isReached = save.isOnItsWay && outcome === "rejected"
      this.#tap.life.sometimes("a copy of a rejected save arrives when the value is free", isReached)
    } finally {
      save.release()
    }
  }

  async #aba({ hold, type, x }: Tried): Promise<void> {
    const { name } = this.#acts
    const [a, b] = [`a${this.#machine}`, `b${this.#machine}`]
    await name(type, x, a)
    const save = hold()
    try {
      await name(type, x, b)
      await name(type, x, a)
      await this.#arrives(save)
      this.#tap.life.sometimes("a unique value goes a, b, a around a commit that hangs", save.isOnItsWay)
    } finally {
      save.release()
    }
  }

  async #destroyed({ hold, type, x }: Tried): Promise<void> {
    await this.#acts.destroy(type, x)
    const save = hold()
    try {
      await this.#acts.name(type, x, "")
      await this.#acts.destroy(type, x)
      await this.#arrives(save)
      this.#tap.life.sometimes("an actor is destroyed whose first save hangs", save.isOnItsWay)
    } finally {
      save.release()
    }
  }

  /** Waits until the copy has left, if it does. */
  async #left(save: HeldSave): Promise<void> {
    for (let ms = 0; !save.isOnItsWay && ms < MOST_MS; ms += STEP_MS) await sleep(this.#tap.life, STEP_MS)
  }

  /** What has ended has time to be tidied up, and the copy to arrive. */
  async #arrives(save: HeldSave): Promise<void> {
    await sleep(this.#tap.life, SETTLED_MS)
    save.release()
    await sleep(this.#tap.life, SETTLED_MS)
  }
}

/** What clients do to profiles. */
interface Acts {
  name(type: ProfileType, key: string, name: string): Promise<"applied" | "rejected">
  destroy(type: ProfileType, key: string): Promise<void>
}

interface Tried {
  readonly type: ProfileType
  readonly x: string
  hold(): HeldSave
}

const STEP_MS = 10
const MOST_MS = 150
const SETTLED_MS = 100
