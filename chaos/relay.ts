import { once } from "node:events"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import type { Cuts } from "./cuts.js"
import { RelayedConnection } from "./relayed-connection.js"

/**
 * Stands before a node, or before the store, at the address that the others know it by, and can keep what one of them
 * sends from getting there.
 *
 * All others dial a node at the same address, so who dials is read from the first thing that a connection says. A relay
 * for each pair of nodes would know it by its port, but nodes learn of each other from the store, which has one address
 * for each. Network namespaces need rights that not everybody has.
 */
export class Relay {
  readonly port: number
  readonly #name: string
  readonly #cuts: Cuts
  readonly #diallerOf: DiallerOf
  readonly #server: Server
  readonly #connections = new Set<RelayedConnection>()
  readonly #strangers = new Set<Socket>()
  #target = 0

  static async open(name: string, cuts: Cuts, diallerOf: DiallerOf): Promise<Relay> {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    return new Relay(name, cuts, diallerOf, server)
  }

  private constructor(name: string, cuts: Cuts, diallerOf: DiallerOf, server: Server) {
    this.#name = name
    this.#cuts = cuts
    this.#diallerOf = diallerOf
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on("connection", (socket) => this.#accept(socket))
  }

  /** Where it really listens now. */
  sendOnTo(port: number): void {
    this.#target = port
  }

  /** Breaks the connections that come from that node. */
  reset(from: string): void {
    for (const connection of [...this.#connections]) {
      if (connection.from === from) connection.reset()
    }
  }

  async close(): Promise<void> {
    this.#server.close()
    for (const connection of [...this.#connections]) connection.reset()
    for (const socket of this.#strangers) socket.destroy()
    await once(this.#server, "close")
  }

  #accept(socket: Socket): void {
    let heard = Buffer.alloc(0)
    this.#strangers.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => this.#strangers.delete(socket))
    socket.on("data", (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk])
      const from = this.#diallerOf(heard)
      if (from === undefined) return
      socket.pause()
      socket.removeAllListeners("data")
      this.#strangers.delete(socket)
      if (from === "stranger") socket.resetAndDestroy()
      else this.#serve(from, socket, heard)
    })
  }

  #serve(from: string, socket: Socket, heard: Buffer): void {
    const connection = new RelayedConnection({
      from,
      to: this.#name,
      cuts: this.#cuts,
      socket,
      heard,
      target: () => this.#target,
      ended: () => this.#connections.delete(connection),
    })
    this.#connections.add(connection)
    connection.begin()
  }
}

/** Who dials, by what a connection has said so far; `undefined` if that is not enough. */
export type DiallerOf = (heard: Buffer) => string | "stranger" | undefined
