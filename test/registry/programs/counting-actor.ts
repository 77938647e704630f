import type { ActorId } from "../../../src/address/actor-id.js"
import type { DurableState } from "../../../src/registry/durable-state.js"
import type { Registration } from "../../../src/registry/registration.js"
import type { Registry } from "../../../src/registry/registry.js"
import type { Tenure } from "../../../src/registry/tenure.js"

/**
 * An actor whose turns come one after the other. It counts, and each save has the next number. Turns that save nothing go on
 * beside, as another actor's of the same node would. When its activation has ended it is claimed again, by this node.
 */
export class CountingActor {
  readonly #id: ActorId
  readonly #registry: Registry
  readonly #stateOf: (tenure: Tenure) => DurableState
  readonly #saved = new Set<() => void>()
  #acknowledged = 0
  #turns = 0
  #activations = 0
  #isOver = false
  #ended: Promise<unknown> = Promise.resolve()

  static start(id: ActorId, registry: Registry, stateOf: (tenure: Tenure) => DurableState): CountingActor {
    const actor = new CountingActor(id, registry, stateOf)
    actor.#ended = actor.#run()
    return actor
  }

  private constructor(id: ActorId, registry: Registry, stateOf: (tenure: Tenure) => DurableState) {
    this.#id = id
    this.#registry = registry
    this.#stateOf = stateOf
  }

  get progress(): CountingProgress {
    return {
      key: this.#id.key,
      acknowledged: this.#acknowledged,
      turns: this.#turns,
      activations: this.#activations,
    }
  }

  /** Resolves once a higher number was saved. */
  savesMoreThan(number: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.#acknowledged <= number) return
        this.#saved.delete(look)
        resolve()
      }
      this.#saved.add(look)
      look()
    })
  }

  async stop(): Promise<CountingProgress> {
    this.#isOver = true
    await this.#ended
    return this.progress
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const decision = await this.#registry.register(this.#id)
      if (decision.kind === "acquired") await this.#activation(decision)
      await moment(5)
    }
  }

  async #activation({ tenure, state: claimed }: Acquired): Promise<void> {
    this.#activations += 1
    const state = this.#stateOf(tenure)
    try {
      const stored = claimed === undefined ? await state.load() : state.take(claimed)
      let count = (stored as number | undefined) ?? 0
      const turning = this.#turnsOf(tenure)
      while (!this.#isOver && (tenure.mayBegin() || (await tenure.opened()))) {
        count += 1
        await state.save(count)
        this.#acknowledged = count
        for (const look of this.#saved) look()
      }
      await turning
    } catch {
      // Fenced, or the store is away. The next activation begins with what is stored.
      tenure.end("it could not go on")
    }
  }

  async #turnsOf(tenure: Tenure): Promise<void> {
    while (!this.#isOver && tenure.endedBecause === undefined) {
      if (tenure.mayBegin()) this.#turns += 1
      await moment(1)
    }
  }
}

type Acquired = Extract<Registration, { kind: "acquired" }>

export interface CountingProgress {
  readonly key: string
  /** The last number whose save was said to be made. */
  readonly acknowledged: number
  readonly turns: number
  readonly activations: number
}

function moment(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
