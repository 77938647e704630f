import { FencedError, type StateError, type StoreUnavailableError } from "../../src/index.js"
import { DurableState, type StateTools } from "../../src/registry/durable-state.js"
import { actorKey } from "../../src/registry/registry-keys.js"
import type { Tenure } from "../../src/registry/tenure.js"
import type { Life, SeededRandom } from "../../src/sim/index.js"
import type { Door } from "./events.js"
import type { KeptState } from "./kept-state.js"
import type { TappedClock } from "./tapped-clock.js"

/** One activation of one actor, which does one thing after the other, and asks its doors each time. */
export class Activation {
  readonly tenure: Tenure
  readonly #tools: ActivationTools
  readonly #state: DurableState
  readonly #loaded: Promise<boolean>
  readonly #by: string
  #memory: readonly number[] | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(tenure: Tenure, tools: ActivationTools) {
    this.tenure = tenure
    this.#tools = tools
    this.#by = tools.name
    this.#state = new DurableState(tenure, tools.state, { version: 1 })
    this.#loaded = this.#load()
  }

  get id(): string {
    return actorKey(this.tenure.id)
  }

  /** After all that was asked for before. */
  turn(asked: Asked): Promise<Outcome> {
    const turn = this.#last.then(() => this.#turn(asked))
    this.#last = turn
    return turn
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#last
  }

  /** What runs in it may want to send something at any time, also when the activation is over. */
  say(): void {
    if (this.#memory !== undefined && this.tenure.mayAct()) this.#passed("message")
  }

  async #turn({ op, isRead, thinkMs, savesTwice }: Asked): Promise<Outcome> {
    if (!(await this.#loaded)) return notDelivered("the state could not be read")
    if (!(await this.#enters("turn"))) return notDelivered("the activation may not act")
    const memory = this.#memory as readonly number[]
    if (!isRead) this.#memory = [...memory, op]
    if (thinkMs > 0) await this.#tools.sleep(thinkMs)
    if (!isRead && !(await this.#save(op))) return { kind: "unknown" }
    if (!isRead && savesTwice && !(await this.#saveAgain())) return { kind: "unknown" }
    if (!(await this.#enters("reply"))) return { kind: "unknown" }
    return { kind: "done" }
  }

  async #load(): Promise<boolean> {
    const { life } = this.#tools
    for (;;) {
      try {
        const kept = (await this.#state.load()) as KeptState | undefined
        const ops = kept?.ops ?? []
        this.#memory = ops
        const { generation } = this.tenure
        life.record({ kind: "loaded", id: this.id, generation, by: this.#by, ops })
        return true
      } catch (error) {
        const { code } = error as FencedError | StoreUnavailableError | StateError
        if (code !== "StoreUnavailable" && code !== "Fenced") throw error
        if (code === "Fenced" || !(await this.tenure.opened())) return false
        await this.#tools.sleep(50)
      }
    }
  }

  async #save(op: number): Promise<boolean> {
    const { life } = this.#tools
    try {
      await this.#state.save({ ops: this.#memory as readonly number[], by: this.#by } satisfies KeptState)
      life.record({ kind: "acked", id: this.id, op, atMs: life.trueMs() })
      return true
    } catch (error) {
      if (!(error instanceof FencedError)) throw error
      life.sometimes("what became of a save is never known", error.message.endsWith("not known"))
      const because = error.message
      if (because.endsWith("refused")) life.record({ kind: "not-done", op, because })
      return false
    }
  }

  async #saveAgain(): Promise<boolean> {
    try {
      await this.#state.save({ ops: this.#memory as readonly number[], by: this.#by } satisfies KeptState)
      return true
    } catch (error) {
      if (!(error instanceof FencedError)) throw error
      return false
    }
  }

  /** A door that waits for a renewal is waited for. */
  async #enters(what: "turn" | "reply"): Promise<boolean> {
    const { tenure } = this
    const isOpen = () => (what === "turn" ? tenure.mayBegin() : tenure.mayAct())
    if (!isOpen()) {
      if (!(await tenure.opened()) || !isOpen()) return false
      this.#tools.life.sometimes("a door waits for a renewal, and opens")
    }
    this.#passed(what)
    return true
  }

  #passed(what: Door["what"]): void {
    const { tenure } = this
    const { readAtMs, wasSetBack } = this.#tools.clock
    const door: Door = {
      kind: "door",
      what,
      id: this.id,
      generation: tenure.generation,
      incarnation: tenure.node.incarnation,
      atMs: readAtMs,
      wasSetBack,
      memory: this.#memory,
    }
    this.#tools.life.record({ ...door })
  }
}

export interface ActivationTools {
  /** Of this activation. */
  readonly name: string
  readonly life: Life
  readonly clock: TappedClock
  readonly state: StateTools
  sleep(ms: number): Promise<void>
}

/** An operation: what each does is drawn where it begins, so that it is the same wherever it is done. */
export interface Asked {
  readonly op: number
  readonly id: string
  readonly isRead: boolean
  readonly thinkMs: number
  readonly savesTwice: boolean
}

export type Outcome = (
  | { readonly kind: "done" }
  /** It was not done, and will not be. */
  | { readonly kind: "not-delivered"; readonly because: string }
  | { readonly kind: "unknown" }
) & { readonly hint?: Hint }

/** Where the store had the actor, by the node that it was looked for at and was not. */
export interface Hint {
  readonly epoch: string
  readonly node: string
  readonly generation: number
}

export function notDelivered(because: string): Outcome {
  return { kind: "not-delivered", because }
}

export function drawAsked(op: number, id: string, random: SeededRandom, thinkMs: number): Asked {
  return {
    op,
    id,
    isRead: random.chance(0.4),
    thinkMs: random.chance(0.5) ? 0 : random.between(0, thinkMs),
    savesTwice: random.chance(0.1),
  }
}
