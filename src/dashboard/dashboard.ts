import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { SettingsError } from "../errors/settings-error.js"
import type { ActorSystem } from "../system/actor-system.js"
import { isLoopback } from "../system/remote-settings.js"
import { nodeListener } from "./node-listener.js"
import type { DashboardOptions } from "./options.js"
import { Requests } from "./requests.js"
import { Watcher } from "./watcher.js"

/**
 * Makes the dashboard of a system: pages that show its cluster. Listen with it, or pass requests on to it
 * from a server of your own. It costs nothing while nobody looks.
 *
 * @example
 * import { ActorSystem } from "troupe"
 * import { dashboard } from "troupe/dashboard"
 *
 * const system = await ActorSystem.start({ namespace: "prod" })
 * const board = dashboard(system)
 * console.log(`dashboard: ${await board.listen({ port: 25580 })}`) // a link for one visit
 */
export function dashboard(system: ActorSystem, options: DashboardOptions = {}): Dashboard {
  return new Dashboard(system, options)
}

/** The dashboard of a system. */
export class Dashboard implements AsyncDisposable {
  /** Answers requests of a server of Node. */
  readonly node: RequestListener
  /** Answers requests of any other server. */
  readonly fetch: (request: Request) => Promise<Response>
  readonly #options: DashboardOptions
  readonly #requests: Requests
  readonly #watcher: Watcher
  #server: Server | undefined
  #address: string | undefined

  /** Use `dashboard`. */
  constructor(system: ActorSystem, options: DashboardOptions) {
    this.#options = options
    this.#watcher = new Watcher(system)
    this.#requests = new Requests(system, options, this.#watcher)
    this.fetch = (request) => this.#requests.answer(request)
    this.node = nodeListener(this.fetch)
  }

  /**
   * Listens for browsers, by default at a free port of 127.0.0.1, and resolves with a link. Rejects with a
   * `SettingsError` for an address that other hosts can reach, unless `authenticate` is set.
   */
  async listen({ port = 0, host = "127.0.0.1" }: DashboardListenOptions = {}): Promise<string> {
    if (!isLoopback(host) && this.#options.authenticate === undefined) {
      throw new SettingsError(
        "authenticate",
        `must be set to listen on ${host}, which other hosts can reach; or listen on 127.0.0.1`,
      )
    }
    const server = createServer(this.node)
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject)
      server.listen(port, host, resolve)
    })
    this.#server = server
    const { address, family, port: chosen } = server.address() as AddressInfo
    this.#address = `http://${family === "IPv6" ? `[${address}]` : address}:${chosen}`
    return this.newLink()
  }

  /**
   * Returns another link: each is good for one visit, within a day. Without a token if `authenticate` is set.
   * Throws a `TypeError` before `listen`.
   */
  newLink(): string {
    if (this.#address === undefined) throw new TypeError("the dashboard does not listen; call listen first")
    return `${this.#address}${this.linkPath()}`
  }

  /** Returns the path and the token of a new link, for a server of your own that passes requests on. */
  linkPath(): string {
    const { authenticate, path = "/" } = this.#options
    const start = path.endsWith("/") ? path : `${path}/`
    return authenticate === undefined ? `${start}?token=${this.#requests.access.newToken(Date.now())}` : start
  }

  /** Ends the server, if it listens, and what it watches. */
  async close(): Promise<void> {
    this.#watcher.close()
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Where the dashboard listens. */
export interface DashboardListenOptions {
  /** The port. Default 0: any free one. */
  readonly port?: number
  /** The host. Default 127.0.0.1. */
  readonly host?: string
}
