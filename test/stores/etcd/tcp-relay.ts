import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

/** Stands between a store and its server, and can keep the server's answers back. */
export class TcpRelay {
  readonly url: string
  readonly #server: Server
  readonly #pairs = new Set<readonly [client: Socket, server: Socket]>()
  #isHolding = false
  #held: (() => void)[] = []
  #accepting: (() => void)[] = []

  static async open(port: number): Promise<TcpRelay> {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    return new TcpRelay(server, port)
  }

  private constructor(server: Server, port: number) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on("connection", (client) => this.#accept(client, connect(port, "127.0.0.1")))
  }

  /** Keeps back what the server says from now on. Resolves when it has said something. */
  async holdAnswers(): Promise<void> {
    this.#isHolding = true
    await new Promise<void>((resolve) => this.#held.push(resolve))
  }

  /** Resolves when the store connects the next time. */
  accepted(): Promise<void> {
    return new Promise((resolve) => this.#accepting.push(resolve))
  }

  /** Ends all connections. Later ones are as usual. */
  cut(): void {
    this.#isHolding = false
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, "close")
  }

  #accept(client: Socket, server: Socket): void {
    const accepting = this.#accepting
    this.#accepting = []
    for (const resolve of accepting) resolve()
    const pair = [client, server] as const
    this.#pairs.add(pair)
    client.pipe(server)
    server.on("data", (chunk) => {
      if (!this.#isHolding) return void client.write(chunk)
      const held = this.#held
      this.#held = []
      for (const resolve of held) resolve()
    })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => {})
      one.on("close", () => {
        this.#pairs.delete(pair)
        other.destroy()
      })
    }
  }
}
