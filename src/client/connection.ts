import { ActorCallError, type CallProblem } from "./actor-call-error.js"

/**
 * The client's half of a connection to a gateway: which calls are sent when, and what is left of them when
 * the connection is lost.
 *
 * A call is sent once there is a connection, and again over the next one if that is safe: if it was not sent,
 * or if its method is `once`. The gateway says in its welcome which methods are; a client knows only types.
 * All attempts at a call have one operation, so the actor applies it once, whichever gateway each of them
 * went through. Any other call that was sent ends as `unknown` with its connection: it may have been run, and
 * nobody can say. Repeating all calls would be simpler, and would say "hi" twice.
 *
 *   1. call 1, of a `once` method, is sent; the actor applies it; the answer is lost with the connection
 *   2. call 2 is made meanwhile, and waits
 *   3. the next welcome: call 1 is sent again, before call 2, under the same operation, and is answered as
 *      before
 *
 * Calls are sent in the order in which they were made, repeats included, so calls to one actor stay in order.
 * All calls of a client have one timeout, so the first call is always the next to be late.
 */
export class Connection {
  readonly #terms: ConnectionTerms
  /** In the order in which they were made. */
  readonly #calls = new Map<number, PendingCall>()
  #methods: Welcome["methods"] = {}
  /** How many calls the gateway takes at a time; 0 while it is closing. */
  #window = 0
  /** The number of calls that were sent over this connection, and are not answered. */
  #inFlight = 0
  #phase: ConnectionPhase = "connecting"
  #ended: CallProblem | undefined
  /** Connections in a row that did not last. */
  #failures = 0
  /** Logins in a row that were refused. */
  #refusals = 0
  /** When the present phase began. */
  #since: number
  #retryAt = 0
  #heardAt = 0
  #keepAliveMs = 0
  #isPinged = false

  constructor(terms: ConnectionTerms, now: number) {
    this.#terms = terms
    this.#since = now
  }

  get phase(): ConnectionPhase {
    return this.#phase
  }

  /** When to tick at the latest. */
  get wakeAt(): number {
    const [first] = this.#calls.values()
    return Math.min(first?.deadline ?? Number.POSITIVE_INFINITY, this.#phaseEndsAt)
  }

  handle(event: ConnectionEvent, now: number): readonly ConnectionCommand[] {
    if (this.#ended !== undefined && event.kind !== "called") return NOTHING
    switch (event.kind) {
      case "called":
        return this.#called(event.call, now)
      case "received":
        return this.#received(event.frame, now)
      case "lost":
        return this.#lost(event, now)
      case "tick":
        return this.#tick(event.chance, now)
      case "close":
        return this.#end(CLOSED)
    }
  }

  #called(made: MadeCall, now: number): readonly ConnectionCommand[] {
    const problem = this.#ended ?? (this.#calls.size < this.#terms.maxCalls ? undefined : TOO_MANY)
    if (problem !== undefined) return [{ kind: "fail", id: made.id, error: new ActorCallError(problem) }]
    const deadline = now + this.#terms.timeoutMs
    const call = { ...made, deadline, isSent: false, isRepeat: false, isOnce: false }
    this.#calls.set(made.id, call)
    return this.#phase === "open" && this.#inFlight < this.#window ? [this.#send(call)] : NOTHING
  }

  /** Sends what waits for its turn: a gateway refuses more at a time than it says in its welcome. */
  #next(): readonly ConnectionCommand[] {
    if (this.#phase !== "open") return NOTHING
    const commands: ConnectionCommand[] = []
    for (const call of this.#calls.values()) {
      if (this.#inFlight >= this.#window) break
      if (!call.isSent) commands.push(this.#send(call))
    }
    return commands
  }

  #send(call: PendingCall): ConnectionCommand {
    const { id, type, method, text, operation } = call
    // A repeat keeps its operation, whatever the method is by now.
    call.isOnce ||= this.#methods[type]?.[method] === 1
    call.isSent = true
    this.#inFlight += 1
    const named = call.isOnce ? `,"operation":${JSON.stringify(operation)}` : ""
    return { kind: "send", text: `{"kind":"call","id":${id},${text}${named}}` }
  }

  #received(frame: ServerFrame, now: number): readonly ConnectionCommand[] {
    this.#heardAt = now
    this.#isPinged = false
    switch (frame.kind) {
      case "welcome":
        return this.#welcomed(frame, now)
      case "renew":
        return [{ kind: "renew" }]
      case "result":
        if (this.#take(frame.id) === undefined) return NOTHING
        return [{ kind: "settle", id: frame.id, value: frame.value }, ...this.#next()]
      case "problem":
        return this.#refused(frame)
      case "pong":
        return NOTHING
    }
  }

  #welcomed({ methods, keepAliveMs, calls }: Welcome, now: number): readonly ConnectionCommand[] {
    this.#methods = methods
    this.#keepAliveMs = keepAliveMs
    this.#refusals = 0
    if (this.#phase === "open") return NOTHING
    this.#window = calls
    this.#enter("open", now)
    return this.#next()
  }

  #refused({ id, problem }: Refusal): readonly ConnectionCommand[] {
    const call = this.#calls.get(id)
    if (call === undefined) return NOTHING
    if (problem.code !== "GatewayClosing") return [this.#fail(call, problem), ...this.#next()]
    // This call and those behind it wait for the next connection, which another gateway may take.
    call.isSent = false
    this.#inFlight -= 1
    this.#window = 0
    return NOTHING
  }

  /** Removes a call that ends now. */
  #take(id: number): PendingCall | undefined {
    const call = this.#calls.get(id)
    if (call?.isSent === true) this.#inFlight -= 1
    this.#calls.delete(id)
    return call
  }

  #lost({ code, reason, chance }: Loss, now: number): readonly ConnectionCommand[] {
    if (code === UNAUTHENTICATED) this.#refusals += 1
    if (FINAL.has(code) || this.#refusals >= 2) {
      return this.#end({ status: code - 4_000, code: "Refused", title: `the gateway refused: ${reason}` })
    }
    if (this.#phase === "open" && now - this.#since >= LASTING_MS) this.#failures = 0
    const backoffMs = Math.min(MOST_BACKOFF_MS, BACKOFF_MS * 2 ** this.#failures)
    this.#retryAt = now + backoffMs * (0.5 + chance / 2)
    this.#failures += 1
    this.#enter("waiting", now)
    const sent = [...this.#calls.values()].filter(({ isSent }) => isSent)
    const commands = sent.filter(({ isOnce }) => !isOnce).map((call) => this.#failHere(call, LOST))
    for (const call of sent) {
      call.isSent = false
      call.isRepeat = true
    }
    this.#inFlight = 0
    return commands
  }

  #tick(chance: number, now: number): readonly ConnectionCommand[] {
    const commands: ConnectionCommand[] = []
    for (const call of this.#calls.values()) {
      if (call.deadline > now) break
      commands.push(this.#failHere(call, LATE))
    }
    if (commands.length > 0) commands.push(...this.#next())
    if (now < this.#phaseEndsAt) return commands
    if (this.#phase === "waiting") {
      this.#enter("connecting", now)
      return [...commands, { kind: "connect" }]
    }
    if (this.#phase === "connecting" || this.#isPinged) {
      return [
        ...commands,
        { kind: "drop" },
        ...this.#lost({ kind: "lost", code: 0, reason: "", chance }, now),
      ]
    }
    this.#isPinged = true
    return [...commands, { kind: "send", text: '{"kind":"ping"}' }]
  }

  /** A connection may die without a word. It is asked for one after a silence, and given up without it. */
  get #phaseEndsAt(): number {
    switch (this.#phase) {
      case "connecting":
        return this.#since + CONNECT_MS
      case "waiting":
        return this.#retryAt
      case "open":
        return this.#heardAt + this.#keepAliveMs + (this.#isPinged ? PONG_MS : 0)
      default:
        return Number.POSITIVE_INFINITY
    }
  }

  #enter(phase: ConnectionPhase, now: number): void {
    this.#phase = phase
    this.#since = now
    this.#isPinged = false
  }

  #end(problem: CallProblem): readonly ConnectionCommand[] {
    this.#phase = "ended"
    this.#ended = { ...problem, delivery: "not-delivered" }
    return [...[...this.#calls.values()].map((call) => this.#failHere(call, problem)), { kind: "drop" }]
  }

  #failHere(call: PendingCall, problem: CallProblem): ConnectionCommand {
    return this.#fail(call, { ...problem, delivery: call.isSent ? "unknown" : "not-delivered" })
  }

  /** That an attempt was not run says nothing of the attempts before it. */
  #fail({ id, isRepeat, isOnce, operation }: PendingCall, problem: CallProblem): ConnectionCommand {
    this.#take(id)
    const isUnknown = problem.delivery === "unknown" || (isRepeat && problem.delivery === "not-delivered")
    const outcome = isUnknown ? { delivery: "unknown" as const, ...(isOnce ? { operation } : {}) } : {}
    return { kind: "fail", id, error: new ActorCallError({ ...problem, ...outcome }) }
  }
}

type ConnectionPhase = "connecting" | "open" | "waiting" | "ended"

export type ConnectionEvent =
  | { readonly kind: "called"; readonly call: MadeCall }
  | { readonly kind: "received"; readonly frame: ServerFrame }
  | Loss
  | { readonly kind: "tick"; readonly chance: number }
  | { readonly kind: "close" }

/** A connection ended, or could not be made: then the code is 0. `chance` is from 0 to 1. */
interface Loss {
  readonly kind: "lost"
  readonly code: number
  readonly reason: string
  readonly chance: number
}

export type ConnectionCommand =
  | { readonly kind: "connect" }
  | { readonly kind: "renew" }
  | { readonly kind: "send"; readonly text: string }
  /** Closes the socket, whose end is no event any more. */
  | { readonly kind: "drop" }
  /** `value`: as it was sent. */
  | { readonly kind: "settle"; readonly id: number; readonly value: unknown }
  | { readonly kind: "fail"; readonly id: number; readonly error: ActorCallError }

/** What a gateway says. */
export type ServerFrame =
  | Welcome
  | { readonly kind: "result"; readonly id: number; readonly value?: unknown }
  | Refusal
  | { readonly kind: "pong" }
  | { readonly kind: "renew" }

interface Welcome {
  readonly kind: "welcome"
  readonly keepAliveMs: number
  /** How many calls may be in flight at a time. */
  readonly calls: number
  /** By type and method: 1 if the method is `once`. */
  readonly methods: Readonly<Record<string, Readonly<Record<string, number>>>>
}

interface Refusal {
  readonly kind: "problem"
  readonly id: number
  readonly problem: CallProblem
}

interface MadeCall {
  readonly id: number
  readonly type: string
  readonly method: string
  /** The fields of its frame that every attempt has, as JSON without braces. */
  readonly text: string
  /** That of all attempts, if the method is `once`. */
  readonly operation: string
}

interface PendingCall extends MadeCall {
  readonly deadline: number
  isSent: boolean
  /** Whether it was sent over an earlier connection. */
  isRepeat: boolean
  isOnce: boolean
}

interface ConnectionTerms {
  /** How long a call may take, the time without a connection included. */
  readonly timeoutMs: number
  /** The calls that are not answered yet. */
  readonly maxCalls: number
}

const UNAUTHENTICATED = 4_401
/** A frame was not understood, or the socket belongs to somebody else: to try again would not help. */
const FINAL: ReadonlySet<number> = new Set([4_400, 4_403])

const BACKOFF_MS = 250
const MOST_BACKOFF_MS = 10_000
/** A connection that lasted this long was a good one. */
const LASTING_MS = 5_000
const CONNECT_MS = 15_000
const PONG_MS = 10_000

const NOTHING: readonly ConnectionCommand[] = []
const LOST: CallProblem = { status: 503, code: "ConnectionLost", title: "the connection was lost" }
const LATE: CallProblem = { status: 504, code: "Timeout", title: "there was no answer in time" }
const CLOSED: CallProblem = { status: 503, code: "Closed", title: "the client was closed" }
const TOO_MANY: CallProblem = {
  ...{ status: 429, code: "TooManyCalls", title: "too many calls are not answered yet" },
  delivery: "not-delivered",
}
