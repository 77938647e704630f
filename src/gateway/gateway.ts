import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { messageOf } from "../errors/thrown.js"
import { ActorSystem } from "../system/actor-system.js"
import type { Principal } from "../virtual/principal.js"
import type { VirtualActors } from "../virtual/virtual-actors.js"
import { Doorkeeper } from "./doorkeeper.js"
import { type CheckedOptions, checkOptions, type GatewayOptions } from "./gateway-options.js"
import { HttpCalls, type HttpRequest } from "./http.js"
import { NodeRequest, writeAnswer } from "./node.js"
import { PublicCalls } from "./public-calls.js"
import { SocketServer } from "./socket-server.js"
import { WebRequest, webAnswer } from "./web.js"
import { within } from "./within.js"

/**
 * Creates a gateway: lets HTTP clients and browsers call actors of the cluster, as far as `expose` names
 * them, and `authenticate` and `authorize` let them in. The system may host actors itself, or only call them.
 *
 * Throws a `SettingsError` that names the option if one is invalid, and a `TypeError` if the system cannot
 * call actors.
 *
 * @example
 * import { createServer } from "node:http"
 * import { Actor, ActorSystem } from "troupe"
 * import { gateway } from "troupe/gateway"
 *
 * class Room extends Actor {
 *   say(text: string) {
 *     return `${this.caller?.id} says ${text}`
 *   }
 * }
 *
 * const system = await ActorSystem.start({ namespace: "prod", actors: [Room] })
 * const web = gateway(system, {
 *   authenticate: ({ headers }) => (headers.get("authorization") === "Bearer 1" ? { id: "ada" } : undefined),
 *   expose: { Room: { say: true } },
 * })
 * createServer(web.node).on("upgrade", web.upgrade).listen(8080)
 */
export function gateway<P extends Principal = Principal>(
  system: ActorSystem,
  options: GatewayOptions<P>,
): Gateway {
  const checked = checkOptions(options)
  const actors = ActorSystem.actorsOf(system)
  if (actors === undefined) {
    throw new TypeError("this system cannot call actors; set actors, or set store and listen")
  }
  return new OpenGateway(actors, checked)
}

/** A gateway, as `gateway` returns it. Its functions may be passed on without it. */
export interface Gateway extends AsyncDisposable {
  /** Answers a request of Node's HTTP server. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void
  /** Takes a connection of Node's HTTP server that is to become a WebSocket. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Answers a request of the Fetch standard, as hono, Bun, Deno and Next have them. */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Refuses further calls, and resolves when those in flight have been answered and all sockets are closed,
   * or after some seconds. Does not stop the system or the server.
   */
  close(): Promise<void>
}

const CLOSE_MS = 5_000

class OpenGateway<P extends Principal> implements Gateway {
  readonly node: Gateway["node"]
  readonly upgrade: Gateway["upgrade"]
  readonly fetch: Gateway["fetch"]
  readonly #actors: VirtualActors
  readonly #calls: PublicCalls<P>
  readonly #http: HttpCalls<P>
  readonly #sockets: SocketServer<P>
  #closing: Promise<void> | undefined

  constructor(actors: VirtualActors, options: CheckedOptions<P>) {
    this.#actors = actors
    this.#calls = new PublicCalls(actors, options)
    const doorkeeper = new Doorkeeper(options.authenticate, actors.host)
    this.#http = new HttpCalls(this.#calls, doorkeeper, options)
    this.node = (message, response) => void this.#answerNode(message, response)
    const sockets = new SocketServer(this.#calls, doorkeeper, options, actors.host.clock)
    this.upgrade = (message, socket, head) => sockets.upgrade(message, socket, head)
    this.#sockets = sockets
    this.fetch = (request) => this.#answerWeb(request)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const { clock } = this.#actors.host
    const quiet = within(clock, CLOSE_MS, this.#calls.close())
    // Calls that are not answered by then are ended by the system, when it stops.
    await Promise.all([quiet.catch(() => undefined), this.#sockets.close()])
  }

  async #answerNode(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      writeAnswer(response, await this.#http.answer(new NodeRequest(message)))
    } catch (error) {
      this.#failed(error)
      response.destroy()
    }
  }

  async #answerWeb(request: Request): Promise<Response> {
    try {
      return webAnswer(await this.#http.answer(new WebRequest(request) satisfies HttpRequest))
    } catch (error) {
      this.#failed(error)
      return new Response(null, { status: 500 })
    }
  }

  /** The caller has left in the middle of its request. A defect would harm this request only. */
  #failed(error: unknown): void {
    const { logger } = this.#actors.host
    logger.log("debug", "a request to a gateway ended early", () => ({ problem: messageOf(error) }))
  }
}
