import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { WebSocketServer } from "ws"
import { gateway } from "../../src/gateway/index.js"
import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"
import { startChild } from "../remote/child.js"
import type { Crowd } from "../remote/socket-crowd.js"
import type { FreeRow } from "../row.js"
import { settledHeap } from "../settled-heap.js"

const SOCKETS = 10_000

class Room extends Actor {
  static readonly type = "Room"

  say(text: string) {
    return text
  }
}

/** What an idle socket of a gateway takes, beyond one of `ws` alone. */
export const idleSocketBytes: FreeRow = {
  kind: "free",
  name: "idle-socket-bytes",
  unit: "bytes",
  bar: { of: "value", better: "lower", at: 8_192 },
  async measure(progress) {
    progress(`opening ${SOCKETS} sockets of ws`)
    const plain = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false })
    const echo = createServer().on("upgrade", (request, socket, head) => {
      plain.handleUpgrade(request, socket, head, (open) => {
        open.on("message", (data: Buffer) => open.send(data))
      })
    })
    const limit = await bytesOf(echo)
    progress(`opening ${SOCKETS} sockets of a gateway`)
    const system = await ActorSystem.start({
      namespace: "bench",
      actors: [Room],
      logger: consoleLogger({ level: "error" }),
    })
    const web = gateway(system, {
      authenticate: () => ({ id: "ada" }),
      expose: { Room: { say: true } },
      limits: { socketsOfPrincipal: SOCKETS },
    })
    const value = (await bytesOf(createServer().on("upgrade", web.upgrade))) - limit
    await web.close()
    await system.stop()
    return { value }
  },
}

async function bytesOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const crowd = (count: number): Crowd => ({ port, count, hello: '{"kind":"hello","version":1}' })
  const first = await startChild("socket-crowd", JSON.stringify(crowd(100)))
  const before = settledHeap()
  const child = await startChild("socket-crowd", JSON.stringify(crowd(SOCKETS)))
  const bytes = (settledHeap() - before) / SOCKETS
  await first.stop()
  await child.stop()
  await new Promise((resolve) => server.close(resolve))
  return bytes
}
