import type { Commit } from "../../src/ports/store.js"
import type { Life } from "../../src/sim/index.js"
import { sleep } from "./cluster.js"

/**
 * Holds the first copies of chosen saves back on their way to the store. The client that sent one gives it up
 * and goes on, and the copy arrives once that is the most inconvenient: chance alone would rarely hit it.
 */
export class HeldSaves {
  readonly #armed = new Map<string, HeldSave>()

  /** The next save of that actor is held. */
  arm(id: string): HeldSave {
    const held = new HeldSave()
    this.#armed.set(id, held)
    return held
  }

  /** Nothing of that actor is held from now on, unless it already is. */
  disarm(id: string): void {
    this.#armed.delete(id)
  }

  take(id: string): HeldSave | undefined {
    const held = this.#armed.get(id)
    this.#armed.delete(id)
    return held
  }
}

/** One save that is held. */
export class HeldSave {
  #commit: Commit | undefined
  #isReleased = false

  /** Whether a copy is on its way. */
  get isOnItsWay(): boolean {
    return this.#commit !== undefined
  }

  release(): void {
    this.#isReleased = true
  }

  /** Resolves when the copy may arrive, in the process that has sent it: if that dies, it never does. */
  async travels(life: Life, commit: Commit): Promise<void> {
    this.#commit = commit
    for (let ms = 0; !this.#isReleased && ms < MOST_MS; ms += STEP_MS) await sleep(life, STEP_MS)
  }
}

const STEP_MS = 20
const MOST_MS = 10_000
