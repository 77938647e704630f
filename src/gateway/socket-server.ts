import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import type { Clock, Timer } from "../ports/clock.js"
import type { Principal } from "../virtual/principal.js"
import { CallCounts } from "./call-counts.js"
import type { Doorkeeper } from "./doorkeeper.js"
import type { CheckedOptions } from "./gateway-options.js"
import { NodeHeaders } from "./node.js"
import { OpenSocket } from "./open-socket.js"
import { isOriginAllowed } from "./origins.js"
import type { PublicCalls } from "./public-calls.js"
import { routeOf } from "./route.js"
import type { SocketTerms } from "./socket.js"

/** Takes connections that become sockets, counts them, and lets their time pass. */
export class SocketServer<P extends Principal> {
  readonly calls: PublicCalls<P>
  readonly doorkeeper: Doorkeeper<P>
  readonly clock: Clock
  readonly terms: SocketTerms
  readonly #options: CheckedOptions<P>
  readonly #handshakes: WebSocketServer
  readonly #sockets = new Set<OpenSocket<P>>()
  readonly #known: CallCounts
  #strangers = 0
  #timer: Timer | undefined
  #onEmpty: (() => void) | undefined

  constructor(calls: PublicCalls<P>, doorkeeper: Doorkeeper<P>, options: CheckedOptions<P>, clock: Clock) {
    const { limits } = options
    this.calls = calls
    this.doorkeeper = doorkeeper
    this.clock = clock
    this.terms = { ...TIMES, sendBytes: limits.sendBytes, calls: limits.callsOfSocket }
    this.#options = options
    this.#known = new CallCounts(limits.sockets, limits.socketsOfPrincipal)
    this.#handshakes = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: limits.bodyBytes,
    })
  }

  upgrade(message: IncomingMessage, connection: Duplex, head: Buffer): void {
    const { path, origins, limits } = this.#options
    const headers = new NodeHeaders(message.headers)
    connection.on("error", () => connection.destroy())
    if (routeOf(message.url ?? "", path).kind !== "socket") return refuse(connection, "404 Not Found")
    // A page of any site can open a socket, with the cookies of its user.
    if (!isOriginAllowed(headers.get("origin"), headers.get("host"), origins)) {
      return refuse(connection, "403 Forbidden")
    }
    const isFull = this.#sockets.size >= limits.sockets || this.#strangers >= limits.strangers
    if (this.#onEmpty !== undefined || isFull) return refuse(connection, "503 Service Unavailable")
    this.#handshakes.handleUpgrade(message, connection, head, (socket) => {
      this.#opened(socket, message, connection)
    })
  }

  /** Counts a socket to a principal; returns whether there is room for it. */
  admitted(principal: string): boolean {
    if (this.#known.enter(principal) !== undefined) return false
    this.#strangers -= 1
    return true
  }

  /** `principal`: undefined for one that was a stranger to the end. */
  closed(socket: OpenSocket<P>, principal: string | undefined): void {
    this.#sockets.delete(socket)
    if (principal === undefined) this.#strangers -= 1
    else this.#known.leave(principal)
    if (this.#sockets.size === 0) this.#onEmpty?.()
  }

  /** Resolves when all sockets are closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = () => {
        this.#timer?.cancel()
        resolve()
      }
      for (const socket of [...this.#sockets]) socket.leave()
      if (this.#sockets.size === 0) this.#onEmpty()
    })
  }

  #opened(socket: WebSocket, message: IncomingMessage, connection: Duplex): void {
    this.#strangers += 1
    const opened = new OpenSocket(this, socket, {
      headers: message.headers,
      url: message.url ?? "",
      remoteAddress: message.socket.remoteAddress,
    })
    opened.limitStranger(connection)
    this.#sockets.add(opened)
    if (this.#sockets.size === 1) this.#tickLater()
  }

  /** One timer for all sockets: a timer for each would cost memory, and ticks are cheap. */
  #tickLater(): void {
    this.#timer?.cancel()
    this.#timer = this.clock.setTimer(TICK_MS, () => {
      for (const socket of [...this.#sockets]) socket.tick()
      if (this.#sockets.size > 0) this.#tickLater()
    })
  }
}

const TIMES = { helloMs: 5_000, keepAliveMs: 30_000, renewMs: 10_000, leaveMs: 5_000 }
const TICK_MS = 1_000

function refuse(connection: Duplex, status: string): void {
  connection.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}
