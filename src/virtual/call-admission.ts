import { RefusedKeys } from "./refused-keys.js"

/**
 * The receiver's side of calls from other nodes: a decision. It says of each call whether the activation of
 * this node takes it, whether it waits until the actor is resolved, or why it is refused. The driver is
 * `incoming-calls.ts`.
 *
 * This node forwards nothing: whoever made a call keeps its order and its time, and retries it elsewhere. So
 * the one thing to keep here is the order of calls that the caller has yet to hear of:
 *
 *   1. the caller sends calls 1 and 2 to an actor; this node refuses 1, because the actor is on another node
 *   2. the actor is released there, and 2 arrives here
 *   3. if this node took 2 and claimed the actor, 2 would run before 1, which the caller is about to resend
 *
 * Therefore all calls to an actor are refused that follow a refused one on the same connection, up to one
 * that says that it is resent: the caller sent that one after all others had come back.
 *
 * So many actors are resolved at a time for the calls of one connection. Others wait in their order, and
 * beyond that calls are refused: one caller with a great many new keys takes neither the store nor the memory
 * from the others.
 */
export class CallAdmission<C extends AdmittableCall> {
  readonly #limits: AdmissionLimits
  /** By the keys of their actors. */
  readonly #resolving = new Map<string, ResolvingCalls<C>>()
  readonly #byConnection = new Map<object, ConnectionTurns>()
  readonly #refused = new WeakMap<object, RefusedKeys>()

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** How many actors that do not run here have calls waiting. */
  get resolving(): number {
    return this.#resolving.size
  }

  /**
   * A call has arrived; `isHere`: an activation of this node takes calls to its actor. `resolve`: the call
   * waits, and the actor is to be resolved now.
   */
  arrived(call: C, isHere: boolean): Admission {
    if (this.#followsRefused(call)) return "sent-too-early"
    if (isHere) return "deliver"
    const known = this.#resolving.get(call.key)
    if (known !== undefined) return this.#wait(call, known)
    const problem = call.problem
    if (problem !== undefined) return problem
    const calls: ResolvingCalls<C> = { connection: call.connection, waiting: [], queuedBytes: 0 }
    const waits = this.#wait(call, calls)
    if (waits !== "wait") return waits
    const turn = this.#enter(call)
    if (turn === "refused") return "too-many-actors"
    this.#resolving.set(call.key, calls)
    return turn === "now" ? "resolve" : "wait"
  }

  /** The actor runs here: gives the calls that waited for it. */
  activatedHere(key: string): readonly C[] {
    const calls = this.#resolving.get(key)
    if (calls === undefined) return NOBODY
    const { waiting } = calls
    calls.waiting = []
    return waiting
  }

  /**
   * The actor was resolved: gives the calls that waited for it, and a call whose actor to resolve next, if
   * any.
   */
  resolved(key: string): { readonly waited: readonly C[]; readonly next: C | undefined } {
    const calls = this.#resolving.get(key)
    if (calls === undefined) return { waited: NOBODY, next: undefined }
    this.#resolving.delete(key)
    return { waited: calls.waiting, next: this.#leave(calls.connection) }
  }

  /** A call was refused with an error that makes its caller retry it. */
  refused({ connection, key }: C): void {
    let keys = this.#refused.get(connection)
    if (keys === undefined) {
      keys = new RefusedKeys()
      this.#refused.set(connection, keys)
    }
    keys.add(key)
  }

  /** The system stops: gives all calls that wait. */
  stop(): readonly C[] {
    return [...this.#resolving.values()].flatMap(({ waiting }) => waiting)
  }

  #followsRefused({ connection, key, isResent }: C): boolean {
    const keys = this.#refused.get(connection)
    if (keys?.has(key) !== true) return false
    if (isResent) keys.delete(key)
    return !isResent
  }

  #wait(call: C, calls: ResolvingCalls<C>): Admission {
    const refusal = call.waitIn(calls, calls.waiting.length)
    if (refusal !== undefined) return refusal
    if (calls.waiting.length >= this.#limits.capacity) return "queue-full"
    calls.waiting.push(call)
    return "wait"
  }

  #enter({ connection, key }: C): "now" | "later" | "refused" {
    const turns = this.#byConnection.get(connection)
    if (turns === undefined) {
      this.#byConnection.set(connection, { resolving: 1, waiting: [], head: 0 })
      return "now"
    }
    if (turns.resolving < this.#limits.resolvingPerConnection) {
      turns.resolving += 1
      return "now"
    }
    if (turns.waiting.length - turns.head >= this.#limits.waitingPerConnection) return "refused"
    turns.waiting.push(key)
    return "later"
  }

  /**
   * Gives a call whose actor is the next to resolve for the connection: callers may have given up while they
   * waited.
   */
  #leave(connection: object): C | undefined {
    const turns = this.#byConnection.get(connection)
    if (turns === undefined) return undefined
    while (turns.head < turns.waiting.length) {
      const key = turns.waiting[turns.head] as string
      turns.head += 1
      if (turns.head >= COMPACT_AT) {
        turns.waiting = turns.waiting.slice(turns.head)
        turns.head = 0
      }
      const wanted = this.#resolving.get(key)?.waiting.find(({ isOver }) => !isOver)
      if (wanted !== undefined) return wanted
      this.#resolving.delete(key)
    }
    turns.waiting = []
    turns.head = 0
    turns.resolving -= 1
    if (turns.resolving === 0) this.#byConnection.delete(connection)
    return undefined
  }
}

/** What admission has to know of a call. */
export interface AdmittableCall {
  readonly key: string
  /** What stands for the connection that it came by. */
  readonly connection: object
  /** Its caller says that it came back, and was sent anew. */
  readonly isResent: boolean
  /** Nobody waits for its answer. */
  readonly isOver: boolean
  /** Why no actor could be resolved, or started, for its sake. */
  readonly problem: Error | undefined
  /**
   * Counts the call among those that wait; or says what to answer where its connection has no room for it.
   */
  waitIn(queue: CallQueue, waiting: number): Error | undefined
}

/** Where calls from other nodes wait. */
export interface CallQueue {
  /** What those that wait weigh. */
  queuedBytes: number
}

/** What to do with a call. An error: refuse it with that. */
export type Admission =
  | "deliver"
  | "wait"
  | "resolve"
  | "sent-too-early"
  | "too-many-actors"
  | "queue-full"
  | Error

interface AdmissionLimits {
  /** How many calls wait for one actor. */
  readonly capacity: number
  /** How many actors are resolved at a time because of one connection, and how many wait for that. */
  readonly resolvingPerConnection: number
  readonly waitingPerConnection: number
}

/** The calls for one actor that does not run here, while it is resolved. */
interface ResolvingCalls<C> extends CallQueue {
  /** That of the first of them. */
  readonly connection: object
  waiting: C[]
}

interface ConnectionTurns {
  resolving: number
  /**
   * Keys from `head` on. Those before it are cut off in pieces, as one at a time would move the whole queue.
   */
  waiting: string[]
  head: number
}

const NOBODY: readonly never[] = []
const COMPACT_AT = 4_096
