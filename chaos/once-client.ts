import { type ActorSystem, CallError } from "../src/index.js"
import type { SeededRandom } from "../src/sim/index.js"
import { pause } from "../tools/pause.js"
import type { OnceSubject } from "./once-subject.js"
import type { LoggedOperation } from "./operation-log.js"

export interface OnceTools<Input, Output, State> {
  readonly name: string
  /** Those of all clients: an operation may be attempted again through any of them. */
  readonly systems: readonly ActorSystem[]
  readonly subject: OnceSubject<Input, Output, State>
  readonly random: SeededRandom
  /** Something that no fault explains. */
  broke(problem: string): void
}

/**
 * Asks for one operation after the other, and attempts each until it has an answer: under the name that the
 * client has given it, or under the one by which an error names it. Some are given up, so that there are
 * operations whose outcome nobody learns.
 */
export class OnceClient<Input, Output, State> {
  readonly #tools: OnceTools<Input, Output, State>

  constructor(tools: OnceTools<Input, Output, State>) {
    this.#tools = tools
  }

  async run(keys: () => readonly string[], over: AbortSignal): Promise<void> {
    const { name, subject, random } = this.#tools
    const wishes = subject.wishes(random)
    while (!over.aborted) {
      const wish = wishes.next(keys())
      const operation = subject.log.begun({ client: name, ...wish, isNamed: random.chance(NAMED) })
      await this.carryOut(operation, over, random.chance(IMPATIENT) ? 1 : undefined)
      // A name is good for a day, and the answer is the same.
      if (operation.isNamed && operation.ending === "acknowledged" && random.chance(AGAIN)) {
        await this.attempt(operation)
      }
      wishes.ended(operation)
      await pause(random.between(0, subject.breathMs))
    }
  }

  /**
   * Attempts an operation until its outcome is known, or it is given up after `most` attempts. It stays open if
   * `over` is aborted before.
   */
  async carryOut(
    operation: LoggedOperation<Input, Output>,
    over: AbortSignal,
    most = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    while (operation.ending === "open" && !over.aborted) {
      await this.attempt(operation)
      if (operation.ending !== "open") return
      if (operation.attempts >= most) operation.ending = "abandoned"
      else await pause(this.#tools.random.between(0, PAUSE_MS), over)
    }
  }

  async attempt(operation: LoggedOperation<Input, Output>): Promise<void> {
    const { systems, subject, random } = this.#tools
    if (operation.ending === "open") operation.attempts += 1
    const text = operation.isNamed ? `order ${operation.id}` : operation.text
    try {
      const output = await subject.call(random.pick(systems), operation, {
        timeoutMs: random.between(...ATTEMPT_MS),
        ...(text !== undefined && { operation: text }),
      })
      subject.log.answered(operation, output)
    } catch (error) {
      this.#failed(operation, error)
    }
  }

  #failed(operation: LoggedOperation<Input, Output>, error: unknown): void {
    const { subject, broke } = this.#tools
    const what = `operation ${operation.id} of ${subject.name} ${operation.key}`
    if (!(error instanceof CallError) || NEVER.has((error as { code?: string }).code ?? "")) {
      broke(`${what}: ${(error as Error).stack}`)
      if (operation.ending === "open") operation.ending = "abandoned"
      return
    }
    if (operation.ending !== "open" || operation.isNamed) return
    if (error.operation !== undefined) operation.text = error.operation
    if (operation.text !== undefined) return
    if (error.delivery === "not-delivered") {
      operation.ending = "refused"
      return
    }
    operation.ending = "abandoned"
    broke(`${what}: its outcome is unknown, and the error names no operation: ${error.stack}`)
  }
}

/** These say that an operation was used for something else, or that it is no longer known. */
const NEVER = new Set(["OperationMismatch", "OperationEnded"])
const NAMED = 0.4
const AGAIN = 0.1
/** The share of operations that are attempted once. */
const IMPATIENT = 0.1
/** Some are shorter than a failover, so that the outcome of the first attempt is still open. */
const ATTEMPT_MS: [number, number] = [200, 4_000]
const PAUSE_MS = 200
