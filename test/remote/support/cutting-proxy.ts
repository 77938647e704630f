import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import type { Network } from "../../../src/index.js"
import { nodeNetwork } from "../../../src/runtime/node-network.js"

/** A proxy before a node that cuts its connections on command. */
export class CuttingProxy {
  /** The recorded bytes of both directions, if recording is on. */
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

  /** The network port of the node behind the proxy. */
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

  /** Cuts all connections, by a reset or by an end. */
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
