import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { ClientFrame } from "./client-frame.js"
import { type Problem, refusals } from "./problem.js"
import type { PublicCall } from "./public-calls.js"

/**
 * The gateway's half of one socket.
 *
 * A socket is a stranger until its first frame, the hello, has been authenticated, and a stranger gets
 * neither time nor memory: the hello has to come within seconds, and whatever else comes before the welcome
 * closes the socket. From then on every frame is a call, and each call is answered once, by its id.
 *
 * A socket may live for weeks, and a login does not. Shortly before it ends, the client is asked to renew it
 * with another hello, while its calls go on; a hello that names somebody else closes the socket, because what
 * is in flight was asked for by the one before. A renewal that does not come closes it too. Closing at once
 * when a login ends would need no renewal, but would make a call in flight `unknown` every hour.
 *
 * Whoever does not read is not waited for: answers that find more than `sendBytes` before them close the
 * socket, as they would otherwise collect in memory, one socket after another.
 *
 * When the gateway closes, a socket refuses new calls as `not-delivered` and stays until its last call is
 * answered, so that a deployment of gateways makes no call `unknown` that ends within `leaveMs`.
 */
export class Socket {
  readonly #terms: SocketTerms
  /** What is in flight, by the ids of the client. Most sockets are idle. */
  #calls: Set<number> | undefined
  #phase: "strange" | "asking" | "open" | "leaving" | "closed" = "strange"
  #principal: string | undefined
  /** When a stranger, or a socket that leaves, is closed. */
  #deadline: MonotonicMs
  #expiresAt: MonotonicMs = Number.POSITIVE_INFINITY
  #renewal: "none" | "asked" | "asking" = "none"
  #heardAt: MonotonicMs
  #isPinged = false

  constructor(terms: SocketTerms, now: MonotonicMs) {
    this.#terms = terms
    this.#deadline = now + terms.helloMs
    this.#heardAt = now
  }

  /** Undefined for a stranger. */
  get principal(): string | undefined {
    return this.#principal
  }

  handle(event: SocketEvent, now: MonotonicMs): readonly SocketCommand[] {
    if (this.#phase === "closed") return NOTHING
    switch (event.kind) {
      case "received":
        return event.bufferedBytes > this.#terms.sendBytes
          ? this.#close(CLOSE_SLOW, SLOW)
          : this.#received(event.frame, now)
      case "heard":
        this.#heard(now)
        return NOTHING
      case "admitted":
        return this.#admitted(event, now)
      case "turned-away":
        return event.because === "unknown"
          ? this.#close(CLOSE_UNAUTHENTICATED, "the caller is not known")
          : this.#close(CLOSE_TOO_MANY, "the principal has too many sockets")
      case "answered":
        return this.#answered(event)
      case "tick":
        return this.#tick(now)
      case "leave":
        return this.#leave(now)
    }
  }

  #received(frame: ClientFrame | undefined, now: MonotonicMs): readonly SocketCommand[] {
    this.#heard(now)
    if (frame === undefined) return this.#close(CLOSE_MALFORMED, "the frame is not valid")
    if (frame.kind === "hello") return this.#hello(frame)
    if (this.#principal === undefined) return this.#close(CLOSE_MALFORMED, "the first frame must be a hello")
    if (frame.kind === "ping") return PONG
    const { id } = frame
    const calls = this.#calls ?? new Set()
    if (calls.has(id)) return this.#close(CLOSE_MALFORMED, "a call has the id of another one in flight")
    if (frame.kind === "malformed") return [{ kind: "refuse", id, problem: frame.problem }]
    if (this.#phase === "leaving") return [{ kind: "refuse", id, problem: refusals.closing }]
    if (calls.size >= this.#terms.calls) return [{ kind: "refuse", id, problem: refusals.tooManyCalls }]
    this.#calls = calls.add(id)
    return [{ kind: "call", id, call: frame.call }]
  }

  #hello({ token, ticket }: ClientFrame & { readonly kind: "hello" }): readonly SocketCommand[] {
    if (this.#phase === "asking" || this.#renewal === "asking") {
      return this.#close(CLOSE_MALFORMED, "a hello came before the welcome of the last one")
    }
    if (this.#phase === "strange") this.#phase = "asking"
    else this.#renewal = "asking"
    return [{ kind: "authenticate", token, ticket }]
  }

  #admitted({ principal, validMs }: Admission, now: MonotonicMs): readonly SocketCommand[] {
    assert(this.#phase === "asking" || this.#renewal === "asking", "a hello was answered that never came")
    if (this.#principal !== undefined && this.#principal !== principal) {
      return this.#close(CLOSE_FORBIDDEN, "a socket belongs to one principal")
    }
    if (this.#phase === "asking") this.#phase = "open"
    this.#renewal = "none"
    this.#principal = principal
    this.#expiresAt = now + validMs
    return [{ kind: "welcome" }]
  }

  #answered({ id, text, bufferedBytes }: Answer): readonly SocketCommand[] {
    assert(this.#calls?.delete(id) === true, "an answer belongs to a call in flight")
    if (this.#calls?.size === 0) this.#calls = undefined
    if (bufferedBytes > this.#terms.sendBytes) return this.#close(CLOSE_SLOW, SLOW)
    const sent: SocketCommand = { kind: "send", text }
    return this.#phase === "leaving" && this.#calls === undefined
      ? [sent, ...this.#close(CLOSE_GOING_AWAY, GOING_AWAY)]
      : [sent]
  }

  #tick(now: MonotonicMs): readonly SocketCommand[] {
    const { keepAliveMs, renewMs } = this.#terms
    if (this.#phase !== "open" && now >= this.#deadline) {
      return this.#phase === "leaving"
        ? this.#close(CLOSE_GOING_AWAY, GOING_AWAY)
        : this.#close(CLOSE_LATE, "the hello is late")
    }
    if (now >= this.#expiresAt) return this.#close(CLOSE_UNAUTHENTICATED, "the login has expired")
    const quietMs = now - this.#heardAt
    if (quietMs >= 2 * keepAliveMs) return this.#close(CLOSE_LATE, "the client is not heard")
    if (this.#renewal === "none" && now >= this.#expiresAt - renewMs) {
      this.#renewal = "asked"
      return RENEW
    }
    if (quietMs < keepAliveMs || this.#isPinged) return NOTHING
    this.#isPinged = true
    return PING
  }

  #leave(now: MonotonicMs): readonly SocketCommand[] {
    if (this.#calls === undefined) return this.#close(CLOSE_GOING_AWAY, GOING_AWAY)
    this.#phase = "leaving"
    this.#deadline = now + this.#terms.leaveMs
    return NOTHING
  }

  #heard(now: MonotonicMs): void {
    this.#heardAt = now
    this.#isPinged = false
  }

  #close(code: number, reason: string): readonly SocketCommand[] {
    this.#phase = "closed"
    return [{ kind: "close", code, reason }]
  }
}

export type SocketEvent =
  /** `frame`: undefined if it cannot be read. */
  | {
      readonly kind: "received"
      readonly frame: ClientFrame | undefined
      /** The bytes that wait to be sent. */
      readonly bufferedBytes: number
    }
  /** The client answered a ping. */
  | { readonly kind: "heard" }
  | Admission
  | { readonly kind: "turned-away"; readonly because: "unknown" | "too-many" }
  | Answer
  | { readonly kind: "tick" }
  /** The gateway is closing. */
  | { readonly kind: "leave" }

interface Admission {
  readonly kind: "admitted"
  readonly principal: string
  readonly validMs: number
}

interface Answer {
  readonly kind: "answered"
  readonly id: number
  readonly text: string
  /** The bytes that wait to be sent. */
  readonly bufferedBytes: number
}

export type SocketCommand =
  | { readonly kind: "authenticate"; readonly token: string | undefined; readonly ticket: string | undefined }
  | { readonly kind: "welcome" }
  | { readonly kind: "call"; readonly id: number; readonly call: PublicCall }
  | { readonly kind: "refuse"; readonly id: number; readonly problem: Problem }
  | { readonly kind: "send"; readonly text: string }
  /** Pings by a control frame, which browsers answer by themselves. */
  | { readonly kind: "ping" }
  | { readonly kind: "close"; readonly code: number; readonly reason: string }

export interface SocketTerms {
  /** How long a stranger has to say hello, and its hello to be answered. */
  readonly helloMs: number
  /** After which silence a socket is pinged; after twice that it is closed. */
  readonly keepAliveMs: number
  /** How long before the end of a login the client is asked to renew it. */
  readonly renewMs: number
  /** How long a socket with calls in flight stays open when the gateway closes. */
  readonly leaveMs: number
  readonly sendBytes: number
  /** The calls in flight of one socket. */
  readonly calls: number
}

/** The codes with which sockets are closed. Clients try again after some of them. */
const CLOSE_GOING_AWAY = 1_001
const CLOSE_MALFORMED = 4_400
const CLOSE_UNAUTHENTICATED = 4_401
const CLOSE_FORBIDDEN = 4_403
const CLOSE_LATE = 4_408
const CLOSE_SLOW = 4_413
const CLOSE_TOO_MANY = 4_429

const SLOW = "the client does not read"
const GOING_AWAY = "the gateway is closing"
const NOTHING: readonly SocketCommand[] = []
const PING: readonly SocketCommand[] = [{ kind: "ping" }]
const PONG: readonly SocketCommand[] = [{ kind: "send", text: '{"kind":"pong"}' }]
const RENEW: readonly SocketCommand[] = [{ kind: "send", text: '{"kind":"renew"}' }]
