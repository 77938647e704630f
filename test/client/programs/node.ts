/** A node of a cluster: one that hosts rooms, or a gateway that hosts nothing and serves a page. */
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { gateway } from "../../../src/gateway/index.js"
import { Actor, ActorSystem, consoleLogger } from "../../../src/index.js"
import { sqliteStore } from "../../../src/stores/sqlite/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"

export interface NodeOptions {
  readonly file: string
  /** The gateway's port, or 0 for a free one; undefined for a node that hosts rooms. */
  readonly port?: number
  /** The file of the client, bundled for browsers. */
  readonly client?: string
}

export class Room extends Actor<{ lines: number[] }> {
  static readonly type = "Room"
  static readonly methods = { post: { once: true } }

  protected override initialState() {
    return { lines: [] as number[] }
  }

  post(line: number) {
    this.state.lines.push(line)
    return { who: this.caller?.id, at: new Date(0), lines: this.state.lines.length }
  }

  lines() {
    return this.state.lines
  }
}

const parent = new ParentProcess<NodeOptions, never>()
const { file, port, client } = parent.options
const system = await ActorSystem.start({
  namespace: "browser",
  listen: { host: "127.0.0.1", port: 0 },
  reconnect: { fromMs: 20, toMs: 200 },
  store: sqliteStore({ file }),
  actors: port === undefined ? [Room] : [],
  logger: consoleLogger({ level: "error" }),
})
const web = gateway(system, {
  authenticate: ({ headers, isSocket }) =>
    isSocket && headers.get("authorization") === "Bearer token" ? { id: "ada" } : undefined,
  expose: { Room: { post: true, lines: true } },
})
const server = createServer((request, response) => {
  const isClient = request.url === "/client.js"
  response.writeHead(200, { "content-type": isClient ? "text/javascript" : "text/html" })
  response.end(isClient ? readFileSync(client ?? "") : "<!doctype html><title>a room</title>")
}).on("upgrade", web.upgrade)
if (port !== undefined) await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))

const commands = {
  address: () => String(system.node?.address),
  port: () => (server.address() as AddressInfo).port,
  /** The address of the node that has the room. */
  place: async () => {
    const place = await system.locate("Room", "lobby")
    return place?.node.address
  },
  stop: async () => {
    await web.close()
    server.closeAllConnections()
    server.close()
    await system.stop()
  },
}

export type SiteCommands = typeof commands

parent.serve(commands)
