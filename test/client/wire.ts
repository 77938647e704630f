import type { AddressInfo } from "node:net"
import { connect, createServer, type Socket } from "node:net"
import { onTestFinished } from "vitest"

/** A line between clients and a gateway that can be cut at a moment of the test's choice. */
export class Wire {
  readonly port: number
  connections = 0
  #isCutting = false
  /** After how many bytes of one side the first connection is cut, and of which. */
  #cut: { readonly of: "client" | "gateway"; bytesLeft: number } | undefined

  /** Lays a line to a port of this host. */
  static async to(target: number): Promise<Wire> {
    const open = new Set<Socket>()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const wire = new Wire((server.address() as AddressInfo).port)
    server.on("connection", (client) => {
      wire.connections += 1
      const gateway = connect(target, "127.0.0.1")
      for (const socket of [client, gateway]) {
        open.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => {
          open.delete(socket)
          client.destroy()
          gateway.destroy()
        })
      }
      client.on("data", (bytes) => wire.#pass("client", bytes, gateway))
      gateway.on("data", (bytes) => {
        if (!wire.#isCutting) return wire.#pass("gateway", bytes, client)
        wire.#isCutting = false
        return client.destroy()
      })
    })
    onTestFinished(() => {
      for (const socket of open) socket.destroy()
      server.close()
    })
    return wire
  }

  private constructor(port: number) {
    this.port = port
  }

  /** Cuts the first connection after so many bytes that one side has said. */
  cutAfter(bytes: number, of: "client" | "gateway"): void {
    this.#cut = { of, bytesLeft: bytes }
  }

  #pass(from: "client" | "gateway", bytes: Buffer, to: Socket): void {
    const cut = this.#cut
    if (cut?.of !== from) return void to.write(bytes)
    if (bytes.length < cut.bytesLeft) {
      cut.bytesLeft -= bytes.length
      return void to.write(bytes)
    }
    // What was said before the cut arrives.
    this.#cut = undefined
    to.end(bytes.subarray(0, cut.bytesLeft), () => to.destroy())
  }

  /** Cuts the connection that the gateway says something on next, and loses what it says. */
  cutAtNextAnswer(): void {
    this.#isCutting = true
  }
}
