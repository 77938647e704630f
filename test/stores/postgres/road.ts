import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

/**
 * The road between clients and a server, which may lead to another server later, lose answers, or be cut. It
 * listens on a port of its own.
 */
export class Road {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number
  #losesAnswers = false
  #onLost: () => void = () => {}

  static async to(target: number): Promise<Road> {
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return new Road(server, target)
  }

  private constructor(server: Server, target: number) {
    this.#server = server
    this.#target = target
    this.port = (server.address() as AddressInfo).port
    server.on("connection", (client) => this.#carry(client))
  }

  /** The address of a server, by this road. */
  urlOf(url: string): string {
    return url.replace(/:\d+\//, `:${this.port}/`)
  }

  /** Where connections lead that are made from now on. */
  leadTo(target: number): void {
    this.#target = target
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /**
   * The next answer of the server is lost, and its connection with it: what was sent has arrived. Resolves when
   * that has happened.
   */
  loseAnswer(): Promise<void> {
    this.#losesAnswers = true
    return new Promise((resolve) => {
      this.#onLost = resolve
    })
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, "close")
  }

  #carry(client: Socket): void {
    const server = connect(this.#target, "127.0.0.1")
    const both = [client, server]
    for (const socket of both) {
      this.#sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        this.#sockets.delete(socket)
        for (const other of both) other.destroy()
      })
    }
    client.on("data", (bytes) => server.write(bytes))
    server.on("data", (bytes) => {
      if (!this.#losesAnswers) {
        client.write(bytes)
        return
      }
      this.#losesAnswers = false
      client.destroy()
      this.#onLost()
    })
  }
}
