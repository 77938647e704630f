// A node of a cluster of counters, as it runs in a container: an HTTP server in front of actors, health for
// probes, and an orderly end. The README beside this file says how to run it.
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Actor, ActorSystem, CallError, consoleLogger, type StoreProvider, withOptions } from "troupe"
import { etcdStore } from "troupe/etcd"
import { postgresStore } from "troupe/postgres"
import { sqliteStore } from "troupe/sqlite"

class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"
  static readonly once = true

  protected override initialState() {
    return { count: 0 }
  }

  increment() {
    this.state.count += 1
    return this.state.count
  }
}

const {
  STORE = "counters.db", // the path of a SQLite file, or the address of PostgreSQL or etcd
  SECRET, // what all nodes know: openssl rand -base64 32
  PREVIOUS_SECRET, // while SECRET is being replaced
  ADVERTISE, // the address at which other nodes reach this one; without it, only this host can
  PORT = "25520", // for other nodes
  HTTP_PORT = "8080", // for clients and probes
} = process.env

let system: ActorSystem | undefined
let isStopping = false
const starting = new AbortController()

const server = createServer(async ({ method, url = "", headers }, response) => {
  const [, what, key = ""] = url.split("/")
  if (what === "live") return send(response, 200, "alive")
  if (what === "ready") return sendHealth(response)
  if (method !== "POST" || what !== "count" || key === "") return send(response, 404, "POST /count/<key>")
  if (system === undefined) return send(response, 503, "starting")
  try {
    const counter = system.actor(Counter, key)
    const idempotencyKey = headers["idempotency-key"]
    const count =
      idempotencyKey === undefined
        ? await counter.increment()
        : await withOptions(counter, { operation: `http ${idempotencyKey}` }).increment()
    send(response, 200, `${count}`)
  } catch (error) {
    // "unknown": the increment may have been made, so a client that has not named it may count twice.
    if (error instanceof CallError) send(response, 503, `${error.code}, ${error.delivery}`)
    else send(response, 400, `${error}`)
  }
})
server.listen(Number(HTTP_PORT), () => {
  console.log(`serving at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

process.on("SIGTERM", stop)
process.on("SIGINT", stop)

try {
  system = await ActorSystem.start(
    {
      namespace: "counters",
      listen: {
        host: ADVERTISE === undefined ? "127.0.0.1" : "0.0.0.0",
        port: Number(PORT),
        ...(SECRET === undefined ? {} : { secret: PREVIOUS_SECRET ? [SECRET, PREVIOUS_SECRET] : SECRET }),
      },
      ...(ADVERTISE === undefined ? {} : { advertise: { host: ADVERTISE } }),
      store: storeAt(STORE),
      actors: [Counter],
      requestTimeoutMs: 5_000,
      logger: consoleLogger({ format: "json" }),
    },
    { signal: starting.signal },
  )
  console.log(`node ${system.node} has joined`)
} catch (error) {
  server.close()
  if (!isStopping) {
    console.error(error)
    process.exitCode = 1
  }
}

/** Answers the requests in progress, then stops the node. The process ends by itself after that. */
function stop(): void {
  if (isStopping) process.exit(1)
  isStopping = true
  console.log("stopping")
  starting.abort()
  server.close(() => void system?.stop())
  setTimeout(() => server.closeAllConnections(), 5_000).unref()
}

function storeAt(address: string): StoreProvider {
  if (/^postgres(ql)?:/.test(address)) return postgresStore({ url: address })
  if (/^https?:/.test(address)) return etcdStore({ endpoints: address.split(",") })
  return sqliteStore({ file: address })
}

function sendHealth(response: ServerResponse): void {
  const health = system?.health() ?? { isReady: false, reasons: ["this node is starting"] }
  send(response, health.isReady ? 200 : 503, JSON.stringify(health))
}

function send(response: ServerResponse, status: number, text: string): void {
  if (isStopping) response.setHeader("connection", "close")
  response.writeHead(status).end(`${text}\n`)
}
