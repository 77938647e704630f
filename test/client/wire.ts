import type { AddressInfo } from "node:net"
import { connect, createServer, type Socket } from "node:net"
import { onTestFinished } from "vitest"

/** A line between clients and a gateway that can be cut at a moment of the test's choice. */
export class Wire {
  readonly port: number
  connections = 0
  #isCutting = false

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
      client.on("data", (bytes) => gateway.write(bytes))
      gateway.on("data", (bytes) => {
        if (!wire.#isCutting) return client.write(bytes)
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

  /** Cuts the connection that the gateway says something on next, and loses what it says. */
  cutAtNextAnswer(): void {
    this.#isCutting = true
  }
}
