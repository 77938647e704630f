import type { IncomingHttpHeaders } from "node:http"
import type { Duplex } from "node:stream"
import type { WebSocket } from "ws"
import type { Principal } from "../virtual/principal.js"
import { clientFrame, SOCKET_VERSION } from "./client-frame.js"
import { type Admitted, isTicket } from "./doorkeeper.js"
import type { GatewayRequest } from "./gateway-options.js"
import { NodeHeaders } from "./node.js"
import type { Problem } from "./problem.js"
import type { Outcome, PublicCall } from "./public-calls.js"
import { Socket, type SocketCommand, type SocketEvent } from "./socket.js"
import type { SocketServer } from "./socket-server.js"

/** One socket: the driver of `socket.ts`. */
export class OpenSocket<P extends Principal> {
  readonly #server: SocketServer<P>
  readonly #socket: WebSocket
  readonly #request: SocketRequest
  readonly #decision: Socket
  #caller: Admitted<P> | undefined
  /** Until code of the user has decided about an earlier call: later ones must not overtake it. */
  #deciding: Promise<void> | undefined

  constructor(server: SocketServer<P>, socket: WebSocket, request: SocketRequest) {
    this.#server = server
    this.#socket = socket
    this.#request = request
    this.#decision = new Socket(server.terms, server.clock.monotonicMs())
    socket.on("message", (bytes: Buffer, isBinary: boolean) => {
      const frame = isBinary ? undefined : clientFrame(server.calls.values, bytes)
      this.#handle({ kind: "received", frame, bufferedBytes: socket.bufferedAmount })
    })
    socket.on("pong", () => this.#handle({ kind: "heard" }))
    // An error is followed by the close.
    socket.on("error", () => {})
    socket.on("close", () => server.closed(this, this.#caller?.principal.id))
  }

  /** A hello is short. Whoever sends more than that before is not one of our clients. */
  limitStranger(connection: Duplex): void {
    let bytes = 0
    const count = (chunk: Buffer) => {
      bytes += chunk.length
      if (this.#caller !== undefined) connection.off("data", count)
      else if (bytes > MOST_OF_STRANGER) this.#socket.terminate()
    }
    // Before ws reads it.
    connection.prependListener("data", count)
  }

  tick(): void {
    this.#handle({ kind: "tick" })
  }

  leave(): void {
    this.#handle({ kind: "leave" })
  }

  #handle(event: SocketEvent): void {
    for (const command of this.#decision.handle(event, this.#server.clock.monotonicMs())) this.#do(command)
  }

  #do(command: SocketCommand): void {
    switch (command.kind) {
      case "authenticate":
        void this.#authenticate(command.token, command.ticket)
        return
      case "welcome":
        return this.#socket.send(this.#welcome)
      case "call":
        return this.#call(command.id, command.call)
      case "refuse":
        return this.#socket.send(problemFrame(command.id, command.problem))
      case "send":
        return this.#socket.send(command.text)
      case "ping":
        return this.#socket.ping()
      case "close":
        return this.#close(command.code, command.reason)
    }
  }

  async #authenticate(token: string | undefined, ticket: string | undefined): Promise<void> {
    const request = new HelloRequest(this.#request, token)
    const caller = await this.#server.doorkeeper.admit(request, isTicket(ticket) ? ticket : undefined)
    // It was closed meanwhile.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (caller === undefined) return this.#handle({ kind: "turned-away", because: "unknown" })
    if (this.#caller === undefined && !this.#server.admitted(caller.principal.id)) {
      return this.#handle({ kind: "turned-away", because: "too-many" })
    }
    const { id: principal } = caller.principal
    if (this.#caller === undefined || this.#caller.principal.id === principal) this.#caller = caller
    this.#handle({ kind: "admitted", principal, validMs: caller.validMs })
  }

  #call(id: number, call: PublicCall): void {
    const caller = this.#caller as Admitted<P>
    const full = this.#server.calls.enter(caller)
    if (full !== undefined) return this.#answered(id, { problem: full })
    const { calls } = this.#server
    const deciding = this.#deciding
    const decided =
      deciding === undefined ? calls.mayCall(caller, call) : deciding.then(() => calls.mayCall(caller, call))
    const make = (refused: Problem | undefined) => {
      void (refused === undefined ? calls.make(caller, call) : Promise.resolve({ problem: refused })).then(
        (outcome) => {
          calls.leave(caller)
          this.#answered(id, outcome)
        },
      )
    }
    if (!(decided instanceof Promise)) return make(decided)
    const passed = decided.then((refused) => {
      if (this.#deciding === passed) this.#deciding = undefined
      make(refused)
    })
    this.#deciding = passed
  }

  #answered(id: number, outcome: Outcome): void {
    // What is answered after the socket has closed is nobody's.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    const text =
      outcome.problem === undefined ? resultFrame(id, outcome.json) : problemFrame(id, outcome.problem)
    this.#handle({ kind: "answered", id, text, bufferedBytes: this.#socket.bufferedAmount })
  }

  #close(code: number, reason: string): void {
    this.#socket.close(code, reason)
    // Whoever does not read, or has gone, does not answer the close.
    const timer = this.#server.clock.setTimer(CLOSE_MS, () => this.#socket.terminate())
    this.#socket.once("close", () => timer.cancel())
  }

  /** Says which methods there are, by type: 1 for those that are once. */
  get #welcome(): string {
    const { calls, terms } = this.#server
    const flag = (type: string, method: string) => [method, calls.isOnce(type, method) === true ? 1 : 0]
    const methods = Object.fromEntries(
      [...calls.exposure].map(([type, names]) => [
        type,
        Object.fromEntries([...names].map((name) => flag(type, name))),
      ]),
    )
    const { keepAliveMs, calls: most } = terms
    return JSON.stringify({ kind: "welcome", version: SOCKET_VERSION, keepAliveMs, calls: most, methods })
  }
}

const MOST_OF_STRANGER = 65_536
const CLOSE_MS = 2_000

/** The request by which a socket was opened. */
interface SocketRequest {
  readonly headers: IncomingHttpHeaders
  readonly url: string
  readonly remoteAddress: string | undefined
}

/** A hello, as `authenticate` sees it. */
class HelloRequest implements GatewayRequest {
  readonly headers: GatewayRequest["headers"]
  readonly url: string
  readonly remoteAddress: string | undefined
  readonly isSocket = true

  constructor({ headers, url, remoteAddress }: SocketRequest, token: string | undefined) {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.headers = new NodeHeaders({ ...headers, ...authorization })
    this.url = url
    this.remoteAddress = remoteAddress
  }
}

function resultFrame(id: number, json: string | undefined): string {
  return json === undefined ? `{"kind":"result","id":${id}}` : `{"kind":"result","id":${id},"value":${json}}`
}

function problemFrame(id: number, problem: Problem): string {
  return `{"kind":"problem","id":${id},"problem":${JSON.stringify(problem)}}`
}
