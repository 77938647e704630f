import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import type { Connection, Network } from "../../src/ports/network.js"
import { REFUSED, WELCOME } from "../../src/remote/frames.js"
import { Handshake } from "../../src/remote/handshake.js"
import { nodeNetwork } from "../../src/runtime/node-network.js"
import { ca, node as certified } from "../certificates/certificates.js"
import { handshakeTerms, RawPeer } from "./support/raw-peer.js"
import { recorded, until } from "./support/until.js"
import { type Question, WatchedNode } from "./support/watched-node.js"
import { frame } from "./support/wire.js"

const MOST = 512

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describe("nodes that all connect at once", () => {
  it("are all admitted, 200 of them, even if none sends anything before all are connected", async () => {
    const accepted = recorded<Connection>()
    const node = await start(
      {},
      {
        ...nodeNetwork,
        listen: (at, accept, options) =>
          nodeNetwork.listen(
            at,
            (connection, arrival) => {
              accepted.push(connection)
              accept(connection, arrival)
            },
            options,
          ),
      },
    )
    const peers = await Promise.all(Array.from({ length: 200 }, () => RawPeer.connect(node)))
    stops.push(() => {
      for (const peer of peers) peer.destroy()
    })
    await until("the node has them all", () => accepted.length === 200)
    await Promise.all(peers.map((peer) => peer.shakeHands(node)))
    expect(peers.filter(({ isClosed }) => isClosed)).toEqual([])
    await until("all are connected", () => node.connected.length === 200)
    expect(node.refused).toEqual([])
  })
})

describe("a flood of unproven connections", () => {
  it.each([
    ["before TLS", { ...certified, ca, mutual: true }],
    ["without TLS", undefined],
  ])("that sends nothing %s is bounded, and a node is admitted", async (_, tls) => {
    const node = await start({ tls })
    const honest = await start({ tls })
    const crowd = new Crowd()
    await crowd.come(node, 1_500)
    await until("it is thinned", () => crowd.closed >= 1_500 - MOST)
    expect(crowd.closed).toBe(1_500 - MOST)
    expect(new Set(node.refused.map(({ reason }) => reason))).toEqual(new Set(["crowded-out"]))
    const echo = honest.system.resolve<Question>(node.path("echo"))
    const ask = (text: string) => honest.system.ask<Question, string>(echo, (replyTo) => ({ text, replyTo }))
    expect(await ask("let me in")).toBe("let me in")
    expect(
      node.log.filter((line) => line.includes("an incoming connection was refused")).length,
    ).toBeLessThanOrEqual(10)
  })

  it("from one address does not evict older silent connections of another address", async () => {
    const node = await start({})
    const few = new Crowd()
    await few.come(node, 5, "127.0.0.7")
    const many = new Crowd()
    await many.come(node, MOST + 100, "127.0.0.8")
    await until("it is thinned", () => many.closed >= 105)
    expect([few.closed, many.closed]).toEqual([0, 105])
    expect(many.closedPlaces).toEqual(Array.from({ length: 105 }, (_, place) => place))
  })

  it("that replays a recorded HELLO gets one place for it, and is refused the others", async () => {
    const node = await start({})
    const peers = await Promise.all(Array.from({ length: 3 }, () => RawPeer.connect(node)))
    stops.push(() => {
      for (const peer of peers) peer.destroy()
    })
    const { hello } = Handshake.dialler(handshakeTerms(node), node.authority)
    const [first, ...others] = peers as [RawPeer, ...RawPeer[]]
    first.send(frame(hello.kind, hello.fields as Uint8Array))
    await until("the first is welcomed", () => first.framesOf(WELCOME).length === 1)
    for (const peer of others) peer.send(frame(hello.kind, hello.fields as Uint8Array))
    for (const peer of others) await peer.closed()
    expect(others.map(({ frames }) => frames.map(({ kind }) => kind))).toEqual([[REFUSED], [REFUSED]])
    expect(node.refused.map(({ reason }) => reason)).toEqual(["replayed", "replayed"])
    expect(first.isClosed).toBe(false)
  })

  it("does not evict a node that has sent its HELLO and is slow with the rest", async () => {
    const node = await start({})
    const slow = await RawPeer.connect(node)
    stops.push(() => slow.destroy())
    const flooded: Promise<void>[] = []
    const crowd = new Crowd()
    await slow.shakeHands(node, {
      judge: () => {
        flooded.push(crowd.come(node, MOST + 50))
        return undefined
      },
    })
    expect(flooded).toHaveLength(1)
    await flooded[0]
    await until("it is thinned", () => crowd.closed >= 50)
    expect(slow.isClosed).toBe(false)
    expect(node.connected).toHaveLength(1)
  })
})

/** Opens sockets that send nothing. */
class Crowd {
  readonly closedPlaces = recorded<number>()
  readonly #sockets: Socket[] = []

  get closed(): number {
    return this.closedPlaces.length
  }

  async come(to: WatchedNode, count: number, localAddress = "127.0.0.1"): Promise<void> {
    stops.push(() => {
      for (const socket of this.#sockets) socket.destroy()
    })
    const { port } = to.system.address
    for (let place = 0; place < count; place += 1) {
      const socket = connect({ host: "127.0.0.1", port: port as number, localAddress })
      socket.on("error", () => {})
      socket.on("close", () => this.closedPlaces.push(place))
      socket.resume()
      this.#sockets.push(socket)
      // Sequentially, so that their order is known.
      await once(socket, "connect")
    }
  }
}

async function start(
  { tls }: { tls?: typeof certified | undefined },
  network: Network = nodeNetwork,
): Promise<WatchedNode> {
  const secret = "a secret for a crowd"
  const listen = { host: "127.0.0.1", port: 0, secret, ...(tls === undefined ? {} : { tls }) }
  const node = await WatchedNode.start({ listen }, { network })
  stops.push(() => node.stop())
  return node
}
