import { type ActorSystem, CallError } from "../src/index.js"
import type { SeededRandom } from "../src/sim/index.js"
import type { Generations } from "./generations.js"
import type { Subject } from "./subject.js"

/** What happened, for the table. */
export interface Outcomes {
  ok: number
  failed: number
  unknown: number
  /** Of those that were not answered, by the code of their error. */
  readonly reasons: Map<string, number>
}

export interface ClientTools<Input, Output> {
  readonly name: string
  readonly system: ActorSystem
  readonly subject: Subject<Input, Output>
  readonly generations: Generations
  readonly outcomes: Outcomes
  readonly random: SeededRandom
  /** Something that no fault explains. */
  broke(problem: string): void
}

/** Calls the actors of one subject, one at a time, and records each call and its outcome. */
export class Client<Input, Output> {
  readonly #tools: ClientTools<Input, Output>
  readonly #seen = new Map<string, Output>()

  constructor(tools: ClientTools<Input, Output>) {
    this.#tools = tools
  }

  /** Calls one of them after the other, with a breath in between. */
  async run(keys: () => readonly string[], over: AbortSignal): Promise<void> {
    const { subject, random } = this.#tools
    while (!over.aborted) {
      const key = random.pick(keys())
      await this.#call(key, subject.choose(random, this.#seen.get(key)), random.between(...CALL_MS))
      await new Promise((resolve) => setTimeout(resolve, random.between(0, BREATH_MS)))
    }
  }

  /** What an actor has, insisted on for a while; undefined if it could not be read. */
  async look(key: string): Promise<Output | undefined> {
    const { subject } = this.#tools
    for (let left = LOOKS; left > 0; left -= 1) {
      const output = await this.#call(key, subject.look, LOOK_MS)
      if (output !== undefined) return output
      await new Promise((resolve) => setTimeout(resolve, BREATH_MS))
    }
    return undefined
  }

  async #call(key: string, input: Input, timeoutMs: number): Promise<Output | undefined> {
    const { name, system, subject, generations, outcomes } = this.#tools
    const { history } = subject
    const actor = `${subject.name} ${key}`
    const id = history.invoke(name, key, input)
    const call = generations.called(actor)
    try {
      const { output, generation } = await subject.call(system, key, input, timeoutMs)
      history.ok(id, output)
      generations.answered(call, generation)
      outcomes.ok += 1
      this.#seen.set(key, output)
      return output
    } catch (error) {
      if (!(error instanceof CallError)) {
        history.unknown(id)
        this.#tools.broke(`${actor}: ${(error as Error).stack}`)
        return undefined
      }
      const { code, delivery } = error
      const reason = `${code}, ${delivery}`
      outcomes.reasons.set(reason, (outcomes.reasons.get(reason) ?? 0) + 1)
      if (delivery === "not-delivered") {
        history.fail(id)
        outcomes.failed += 1
      } else {
        history.unknown(id)
        outcomes.unknown += 1
      }
      return undefined
    }
  }
}

/** Some are shorter than a failover, so that callers give up on calls whose outcome is still open. */
const CALL_MS: [number, number] = [200, 4_000]
const BREATH_MS = 20
const LOOK_MS = 10_000
const LOOKS = 6
