import { type Commitment, StoreUnavailableError } from "../errors/store-errors.js"
import type { Commit } from "../ports/store.js"
import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"
import type { SimStoreLine } from "./sim-store-line.js"

/** One request of one process to a store, on both sides. */
export class SimStoreRequest<Answer = unknown> {
  readonly process: SimProcess
  readonly what: string
  readonly bytes: number
  /** The commit, if the request is one. */
  readonly commit: Commit | undefined
  /** The keys that it reads or writes. */
  readonly keys: readonly string[]
  /** Carries out a read at the store, and returns the answer. Undefined for a commit. */
  readonly serve: (() => Answer) | undefined
  readonly answered: Promise<Answer>
  readonly leavesAt: SimMicros
  /** When the client gives up. */
  readonly givenUpAt: SimMicros
  readonly #answers: SimStoreLine
  readonly #diedAt: () => SimMicros | undefined
  #end: (outcome: { readonly answer: Answer } | { readonly error: Error }) => void = () => {}
  #isOver = false

  constructor(proc: SimProcess, asked: AskedOfStore<Answer>, answers: SimStoreLine) {
    this.process = proc
    this.what = asked.what
    this.bytes = asked.bytes
    this.commit = asked.commit
    this.keys = asked.keys
    this.serve = asked.serve
    this.leavesAt = proc.now
    this.givenUpAt = proc.now + asked.timeoutMicros
    this.#answers = answers
    this.#diedAt = asked.diedAt
    const timeout = proc.later(asked.timeoutMicros, `store ${asked.what} timed out`, () =>
      this.#fail(
        "the store did not answer in time",
        asked.commit === undefined ? "not-committed" : "unknown",
      ),
    )
    this.answered = new Promise<Answer>((resolve, reject) => {
      this.#end = (outcome) => {
        if (this.#isOver) return
        this.#isOver = true
        timeout.cancel()
        if ("answer" in outcome) resolve(outcome.answer)
        else reject(outcome.error)
      }
    })
  }

  /** Whether the client has given up, or has died, so that nobody waits for the answer. */
  get isAbandoned(): boolean {
    return this.#isOver || !this.process.isAlive
  }

  /** Whether the process died in a pause, after which the request would have left. */
  get neverLeft(): boolean {
    const diedAt = this.#diedAt()
    return diedAt !== undefined && diedAt < this.leavesAt
  }

  answer(answer: Answer): void {
    this.#answers.send(0, () => this.#end({ answer }))
  }

  refuse(): void {
    this.#answers.send(0, () => this.#fail("the store refuses requests temporarily", "not-committed"))
  }

  #fail(problem: string, commitment: Commitment): void {
    this.#end({ error: new StoreUnavailableError(problem, commitment) })
  }
}

export interface AskedOfStore<Answer> {
  readonly what: string
  readonly bytes: number
  readonly commit?: Commit | undefined
  readonly keys: readonly string[]
  readonly timeoutMicros: SimMicros
  /** When the process died, if it has. */
  readonly diedAt: () => SimMicros | undefined
  /** Carries out a read at the store, and returns the answer. */
  readonly serve?: (() => Answer) | undefined
}
