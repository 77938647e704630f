import { RefusedKeys } from "./refused-keys.js"

/**
 * Decides about calls from other nodes: whether a call is delivered to the activation of this node, waits
 * until the actor is resolved, or is refused. The driver is `incoming-calls.ts`.
 *
 * This node forwards no calls: the calling node keeps their order and their timeouts, and retries them on
 * other nodes. What this node has to protect is the order of calls whose refusal the caller has not received
 * yet:
 *
 *   1. the caller sends calls 1 and 2 to an actor; this node refuses 1, because the actor is on another node
 *   2. the actor is released there, and 2 arrives here
 *   3. if this node accepted 2 and claimed the actor, 2 would run before 1, which the caller will resend
 *
 * Therefore all calls to an actor that follow a refused one on the same connection are refused too, up to
 * the first that is marked as resent: the caller sent that one after all others had come back.
 *
 * The number of actors that are resolved at a time for the calls of one connection is limited. Others wait in
 * order, up to a second limit, beyond which calls are refused: a caller with very many new keys can exhaust
 * neither the store nor the memory.
 */
export class CallAdmission<C extends AdmittableCall> {
  readonly #limits: AdmissionLimits
  /** Waiting calls by the keys of their actors. */
  readonly #resolving = new Map<string, ResolvingCalls<C>>()
  readonly #byConnection = new Map<object, ConnectionTurns>()
  readonly #refused = new WeakMap<object, RefusedKeys>()

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** The number of actors that do not run here and have calls waiting. */
  get resolving(): number {
    return this.#resolving.size
  }

  /**
   * Admits a call that has arrived. `isHere`: the actor has an activation on this node that accepts calls.
   * Returns `resolve` if the call waits and its actor has to be resolved now.
   */
  arrived(call: C, isHere: boolean): Admission {
    if (this.#isBehindRefused(call)) return "sent-too-early"
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

  /** Handles the start of an activation on this node, and returns the calls that waited for it. */
  activatedHere(key: string): readonly C[] {
    const calls = this.#resolving.get(key)
    if (calls === undefined) return NO_CALLS
    const { waiting } = calls
    calls.waiting = []
    return waiting
  }

  /** Handles the end of a resolve. Returns the calls that waited, and a call whose actor is resolved next. */
  resolved(key: string): { readonly waited: readonly C[]; readonly next: C | undefined } {
    const calls = this.#resolving.get(key)
    if (calls === undefined) return { waited: NO_CALLS, next: undefined }
    this.#resolving.delete(key)
    return { waited: calls.waiting, next: this.#leave(calls.connection) }
  }

  /** Handles the refusal of a call with an error that makes its caller retry it. */
  refused({ connection, key }: C): void {
    let keys = this.#refused.get(connection)
    if (keys === undefined) {
      keys = new RefusedKeys()
      this.#refused.set(connection, keys)
    }
    keys.add(key)
  }

  /** Returns all waiting calls, as the system stops. */
  stop(): readonly C[] {
    return [...this.#resolving.values()].flatMap(({ waiting }) => waiting)
  }

  #isBehindRefused({ connection, key, isResent }: C): boolean {
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

  /** Returns a call whose actor is resolved next for the connection; skips actors whose callers gave up. */
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

/** A call, as far as admission is concerned. */
export interface AdmittableCall {
  readonly key: string
  /** The identity of the connection that the call came by. */
  readonly connection: object
  /** Whether the caller has marked the call as resent after it came back. */
  readonly isResent: boolean
  /** Whether the caller no longer waits for an answer. */
  readonly isOver: boolean
  /** The reason why the call is invalid, so that no actor is resolved or started for it. */
  readonly problem: Error | undefined
  /** Adds the call to the queue; returns the error to answer with if its connection has no room for it. */
  waitIn(queue: CallQueue, waiting: number): Error | undefined
}

/** A queue of calls from other nodes. */
export interface CallQueue {
  /** The total weight of the queued calls. */
  queuedBytes: number
}

/** What to do with a call; an error means to refuse the call with it. */
export type Admission =
  | "deliver"
  | "wait"
  | "resolve"
  | "sent-too-early"
  | "too-many-actors"
  | "queue-full"
  | Error

interface AdmissionLimits {
  /** The maximum number of calls that wait for one actor. */
  readonly capacity: number
  /** How many actors are resolved at a time for one connection, and how many may wait to be resolved. */
  readonly resolvingPerConnection: number
  readonly waitingPerConnection: number
}

/** The calls to one actor that does not run here, while it is resolved. */
interface ResolvingCalls<C> extends CallQueue {
  /** The connection of the first call. */
  readonly connection: object
  waiting: C[]
}

interface ConnectionTurns {
  resolving: number
  /** Waiting keys, from `head` on. Earlier ones are cut off in batches, as each cut moves the whole array. */
  waiting: string[]
  head: number
}

const NO_CALLS: readonly never[] = []
const COMPACT_AT = 4_096
