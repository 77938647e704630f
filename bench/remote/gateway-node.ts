import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { gateway } from "../../src/gateway/index.js"
import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"
import { ParentProcess } from "../../tools/cluster/parent-process.js"

class Echo extends Actor {
  static readonly type = "Echo"

  echo(body: string) {
    return body
  }
}

/** A gateway in front of an actor of its own process, which gives the body back. */
const system = await ActorSystem.start({
  namespace: "bench",
  actors: [Echo],
  logger: consoleLogger({ level: "error" }),
})
const web = gateway(system, {
  authenticate: ({ headers }) => (headers.get("authorization") === "Bearer a" ? { id: "ada" } : undefined),
  expose: { Echo: { echo: true } },
})
const server = createServer(web.node).on("upgrade", web.upgrade)
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  new ParentProcess().serve({ greeting: () => `${port}`, stop: () => {} })
})
