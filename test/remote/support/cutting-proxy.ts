import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import type { Network } from "../../../src/index.js"
import { nodeNetwork } from "../../../src/runtime/node-network.js"

/** Stands between a node and whoever dials it, and cuts the connections that go through it when it is told to. */
export class CuttingProxy {
  /** What has come through, both ways, if it is kept. */
  readonly seen: Buffer[] | undefined
  readonly #server
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #target = 0
  accepted = 0

  private constructor(keeps: boolean) {
    this.seen = keeps ? [] : undefined
    this.#server = createServer({ noDelay: true }, (near) => this.#join(near))
  }

  static async start(keeps = false): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(keeps)
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The network of the node that it stands before. */
  get network(): Network {
    return {
      connect: nodeNetwork.connect,
      listen: async (...args) => {
        const listener = await nodeNetwork.listen(...args)
        this.#target = listener.at.port
        return listener
      },
    }
  }

  /** By a reset or by an end. */
  cut(how: "reset" | "end"): void {
    for (const pair of this.#pairs) {
      for (const socket of pair) {
        if (how === "reset") socket.resetAndDestroy()
        else socket.destroy()
      }
    }
  }

  async stop(): Promise<void> {
    this.cut("end")
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(near: Socket): void {
    this.accepted += 1
    const far = connect({ port: this.#target, host: "127.0.0.1", noDelay: true })
    const pair = [near, far] as const
    this.#pairs.add(pair)
    for (const [from, to] of [pair, [far, near]] as const) {
      from.on("error", () => {})
      from.on("data", (chunk) => {
        this.seen?.push(chunk)
        to.write(chunk)
      })
      from.on("close", () => {
        to.destroy()
        this.#pairs.delete(pair)
      })
    }
  }
}
