import type { Actor } from "../virtual/actor.js"
import type { ActorHandle } from "../virtual/actor-class.js"
import { Connection, type ConnectionCommand, type ConnectionEvent, type ServerFrame } from "./connection.js"
import { decode, encode } from "./values.js"

/**
 * Connects to a gateway, and stays connected until the client is closed. Calls can be made at once. In a
 * browser the URL may be relative to the page, such as `/actors`.
 *
 * @example
 * import { connect } from "troupe/client"
 * import type { Actor } from "troupe" // in a program: import type { Room } from "../server/room.js"
 *
 * declare class Room extends Actor {
 *   say(text: string): string
 * }
 *
 * async function greet(token: () => Promise<string>) {
 *   const client = connect("wss://example.com/actors", { token })
 *   const room = client.actor<Room>("Room", "lobby")
 *   console.log(await room.say("hi"))
 *   client.close()
 * }
 */
export function connect(url: string | URL, options: ClientOptions = {}): Client {
  return new OpenClient(String(url), options)
}

/** A connection to a gateway, as `connect` returns it. */
export interface Client {
  /** What the connection is doing at present. */
  readonly state: ClientState
  /**
   * Returns a handle of an actor; nothing is sent until a method is called. Methods reject with an
   * `ActorCallError`, or with a `TypeError` if an argument cannot be sent.
   */
  actor<A extends Actor>(type: string, key: string, options?: HandleOptions): ActorHandle<A>
  /** Ends the connection, and fails the calls that are not answered. */
  close(): void
}

/**
 * What a connection is doing: `waiting` is the pause before it connects again, and `ended` is final, because
 * the client was closed or the gateway refused it.
 */
export type ClientState = "connecting" | "open" | "waiting" | "ended"

/** The options of `connect`. */
export interface ClientOptions {
  /**
   * What the gateway's `authenticate` gets as a bearer token, or a function that returns it, which is called
   * for each connection and when the login is about to end. Default: none.
   */
  readonly token?: string | (() => string | Promise<string>)
  /** How long a call may take, including the time without a connection. Default 30,000. */
  readonly timeoutMs?: number
  /** How many calls may be unanswered. Default 1,000. */
  readonly maxCalls?: number
  /** Called when the state has changed. Default: none. */
  readonly onState?: (state: ClientState) => void
  /** The class of sockets. Default: the global `WebSocket`, which Node has from version 22 on. */
  readonly webSocket?: SocketClass
}

/** The options of a handle. */
export interface HandleOptions {
  /** The operation of its calls, whose method must be `once`. Default: each call has one of its own. */
  readonly operation?: string
}

/** A class of sockets, such as `WebSocket`. */
export type SocketClass = new (url: string) => ClientSocket

/** What the client needs of a socket. */
export interface ClientSocket {
  /** Sends a text. */
  send(text: string): void
  /** Closes the socket. */
  close(): void
  /** Listens to events, as `EventTarget` does. */
  addEventListener(type: "open" | "message" | "error" | "close", listener: (event: object) => void): void
}

class OpenClient implements Client {
  readonly #Socket: SocketClass
  readonly #url: string
  readonly #options: ClientOptions
  readonly #connection: Connection
  /** Proves to gateways that connections with the same one belong together, where nobody is logged in. */
  readonly #ticket = randomText()
  readonly #waiting = new Map<number, PromiseWithSettlers>()
  #socket: ClientSocket | undefined
  #attempts = 0
  #calls = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #state: ClientState = "connecting"

  constructor(url: string, options: ClientOptions) {
    const { timeoutMs = 30_000, maxCalls = 1_000 } = options
    const { WebSocket, location } = globalThis as BrowserGlobals
    const Socket = options.webSocket ?? WebSocket
    if (Socket === undefined) throw new TypeError("there is no WebSocket here; set webSocket")
    this.#Socket = Socket
    this.#url = new URL(url, location?.href).href.replace(/^http/, "ws")
    this.#options = options
    this.#connection = new Connection({ timeoutMs, maxCalls }, performance.now())
    void this.#connect()
    this.#after()
  }

  get state(): ClientState {
    return this.#state
  }

  actor<A extends Actor>(type: string, key: string, { operation }: HandleOptions = {}): ActorHandle<A> {
    const get = (_target: object, method: string | symbol) =>
      // Promises, JSON and consoles look for these.
      typeof method === "symbol" || method === "then" || method === "toJSON"
        ? undefined
        : (...args: unknown[]) => this.#call(type, key, method, args, operation)
    return new Proxy({}, { get }) as ActorHandle<A>
  }

  close(): void {
    this.#handle({ kind: "close" })
  }

  async #call(
    type: string,
    key: string,
    method: string,
    args: unknown[],
    operation = randomText(),
  ): Promise<unknown> {
    const text = encode({ type, key, method, args }).slice(1, -1)
    this.#calls += 1
    const id = this.#calls
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#handle({ kind: "called", call: { id, type, method, text, operation } })
    })
  }

  #handle(event: ConnectionEvent): void {
    for (const command of this.#connection.handle(event, performance.now())) this.#do(command)
    this.#after()
  }

  #do(command: ConnectionCommand): void {
    switch (command.kind) {
      case "connect":
        void this.#connect()
        return
      case "renew":
        void this.#renew(this.#socket)
        return
      case "send":
        return this.#socket?.send(command.text)
      case "drop":
        this.#socket?.close()
        this.#socket = undefined
        return
      case "settle":
        return this.#settle(command.id, command.value)
      case "fail":
        return this.#take(command.id)?.reject(command.error)
    }
  }

  #settle(id: number, value: unknown): void {
    const waiting = this.#take(id)
    try {
      waiting?.resolve(decode(value))
    } catch (error) {
      // A later version of the gateway knows more kinds of values.
      waiting?.reject(error)
    }
  }

  async #connect(): Promise<void> {
    this.#attempts += 1
    const attempt = this.#attempts
    // A gateway does not wait for the token, so it is fetched before.
    const hello = await this.#hello().catch(() => undefined)
    if (this.#connection.phase !== "connecting" || this.#attempts !== attempt) return
    if (hello === undefined) return this.#lost(0, "the token could not be had")
    const socket = new this.#Socket(this.#url)
    this.#socket = socket
    socket.addEventListener("open", () => socket.send(hello))
    socket.addEventListener("message", (event) => {
      const { data } = event as { data: string }
      if (this.#socket === socket) this.#handle({ kind: "received", frame: JSON.parse(data) as ServerFrame })
    })
    // An error is followed by the close, and says nothing.
    socket.addEventListener("error", () => {})
    socket.addEventListener("close", (event) => {
      const { code, reason } = event as { code: number; reason: string }
      if (this.#socket === socket) this.#lost(code, reason)
    })
  }

  async #renew(socket: ClientSocket | undefined): Promise<void> {
    // Without a token the gateway closes the socket, and the next one begins with another attempt.
    const hello = await this.#hello().catch(() => undefined)
    if (hello !== undefined && this.#socket === socket) socket?.send(hello)
  }

  async #hello(): Promise<string> {
    const { token } = this.#options
    const given = typeof token === "function" ? await token() : token
    return JSON.stringify({ kind: "hello", version: 1, token: given, ticket: this.#ticket })
  }

  #lost(code: number, reason: string): void {
    this.#socket = undefined
    this.#handle({ kind: "lost", code, reason, chance: Math.random() })
  }

  #take(id: number): PromiseWithSettlers | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  /** Sets the timer, unless it fires early enough, and tells of a change of the state. */
  #after(): void {
    const { wakeAt, phase } = this.#connection
    if (wakeAt < this.#timerAt || phase === "ended") this.#setTimer(wakeAt)
    if (phase === this.#state) return
    this.#state = phase
    this.#options.onState?.(phase)
  }

  #setTimer(at: number): void {
    clearTimeout(this.#timer)
    this.#timerAt = at
    if (at === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY
        this.#handle({ kind: "tick", chance: Math.random() })
      },
      Math.max(0, at - performance.now()) + 1,
    )
  }
}

interface PromiseWithSettlers {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

interface BrowserGlobals {
  readonly WebSocket?: SocketClass
  readonly location?: { readonly href: string }
}

/** 132 random bits: nobody guesses it. */
function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(22))
  return Array.from(
    bytes,
    (byte) => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[byte & 63],
  ).join("")
}
