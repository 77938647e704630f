import assert from "node:assert/strict"
import { connect as connectSocket, createServer, type Server, type Socket } from "node:net"
import { NetworkError } from "../errors/network-error.js"
import type { Connection, ConnectOptions, Endpoint, Listener, Network } from "../ports/network.js"
import { networkFailure, written } from "./network-failure.js"
import { nodeClock } from "./node-clock.js"
import { NodeConnection } from "./node-connection.js"

/** TCP. Small writes leave at once, and a connection whose peer has ended can still be written to. */
export const nodeNetwork: Network = { listen, connect }

const socketOptions = { noDelay: true, allowHalfOpen: true }

async function listen(at: Endpoint, accept: (connection: Connection) => void): Promise<Listener> {
  const server = createServer({ ...socketOptions, pauseOnConnect: true }, (socket) => {
    accept(new NodeConnection(socket))
  })
  try {
    await bind(server, at)
  } catch (error) {
    throw networkFailure(error, `Cannot listen at ${written(at)}`)
  }
  const bound = server.address()
  assert(typeof bound === "object" && bound !== null, "A server that listens at a port has an address.")
  return {
    at: { host: bound.address, port: bound.port },
    close: async () => {
      // The port is free once this returns. Its callback would wait for the accepted connections too.
      server.close()
    },
  }
}

function bind(server: Server, at: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays for good: when the process runs out of descriptors a connection is lost, and the listener goes on.
    server.on("error", reject)
    // Exclusive, or the workers of a node:cluster would share the port and take each other's connections.
    server.listen({ host: named(at.host), port: at.port, exclusive: true }, resolve)
  })
}

async function connect(
  to: Endpoint,
  { timeoutMs = 10_000, signal }: ConnectOptions = {},
): Promise<Connection> {
  assert(Number.isFinite(timeoutMs), `timeoutMs must be a finite number, not ${timeoutMs}.`)
  const attempt = `Cannot connect to ${written(to)}`
  const cancelled = () => {
    return new NetworkError("Cancelled", `${attempt}: the caller cancelled it.`, { cause: signal?.reason })
  }
  if (signal?.aborted) throw cancelled()
  const socket = open(to, attempt)

  return new Promise((resolve, reject) => {
    const settle = () => {
      timer.cancel()
      signal?.removeEventListener("abort", cancel)
    }
    const fail = (error: NetworkError) => {
      settle()
      socket.destroy()
      reject(error)
    }
    const cancel = () => fail(cancelled())
    const timer = nodeClock.setTimer(timeoutMs, () => {
      fail(new NetworkError("TimedOut", `${attempt}: no answer within ${timeoutMs} ms.`))
    })
    const refuse = (error: Error) => fail(networkFailure(error, attempt))
    signal?.addEventListener("abort", cancel)
    socket.once("error", refuse)
    socket.once("connect", () => {
      settle()
      socket.off("error", refuse)
      resolve(new NodeConnection(socket))
    })
  })
}

function open(to: Endpoint, attempt: string): Socket {
  try {
    const socket = connectSocket({ ...socketOptions, host: named(to.host), port: to.port })
    return socket.pause()
  } catch (error) {
    throw networkFailure(error, attempt)
  }
}

/** Node takes an empty host for this machine, or for all of its addresses. */
function named(host: string): string {
  if (host === "") throw new Error("the host is empty")
  return host
}
