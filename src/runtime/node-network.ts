import assert from "node:assert/strict"
import { connect as connectSocket, createServer, type Server, type Socket } from "node:net"
import { NetworkError } from "../errors/network-error.js"
import type {
  Accept,
  Arrival,
  Connection,
  ConnectOptions,
  Endpoint,
  Listener,
  ListenOptions,
  Network,
  TlsOptions,
} from "../ports/network.js"
import { networkFailure, written } from "./network-failure.js"
import { nodeClock } from "./node-clock.js"
import { NodeConnection } from "./node-connection.js"
import { connectTls } from "./tls/tls-client.js"
import { speaksTls } from "./tls/tls-failure.js"
import { tlsServer } from "./tls/tls-server.js"

/**
 * TCP, and TLS 1.3 over it. Small writes leave at once, and a connection whose peer has ended can still be
 * written to.
 *
 * Under TLS a connection is handed over once this side's handshake has succeeded. A client's is over first:
 * it has judged the server, which has yet to judge it. A client that a mutual listener refuses is therefore
 * connected, and then sees its connection end or fail before a byte was read; Node's servers do not say why.
 * A listener, in turn, may be handed the connection of a client that has just refused it.
 */
export const nodeNetwork: Network = { listen, connect }

const socketOptions = { noDelay: true, allowHalfOpen: true }
const acceptedOptions = { ...socketOptions, pauseOnConnect: true }

async function listen(at: Endpoint, accept: Accept, options: ListenOptions = {}): Promise<Listener> {
  const { server, drop } = await bound(at, accept, options)
  const address = server.address()
  assert(typeof address === "object" && address !== null, "A server that listens at a port has an address.")
  return {
    at: { host: address.address, port: address.port },
    close: async () => {
      // The port is free once this returns. Its callback would wait for the accepted connections too.
      server.close()
      drop()
    },
  }
}

async function bound(
  at: Endpoint,
  accept: Accept,
  { tls, refused, arrived = (arrival) => arrival.admit() }: ListenOptions,
): Promise<{ readonly server: Server; drop(): void }> {
  try {
    const handOver = (socket: Socket, arrival: Arrival) => accept(new NodeConnection(socket), arrival)
    const secured = tls === undefined ? undefined : tlsServer(tls, acceptedOptions, handOver, refused)
    /** Those who have not been let in. */
    const waiting = new Set<Socket>()
    const server = createServer(acceptedOptions, (socket) => {
      const arrival: Arrival = {
        remote: { host: socket.remoteAddress ?? "unknown", port: socket.remotePort ?? 0 },
        admit: () => {
          waiting.delete(socket)
          if (secured === undefined) handOver(socket, arrival)
          else secured.begin(socket, arrival)
        },
        drop: () => {
          waiting.delete(socket)
          secured?.forget(socket)
          socket.destroy()
        },
      }
      waiting.add(socket)
      arrived(arrival)
    })
    await bind(server, at)
    const drop = () => {
      for (const socket of waiting) socket.destroy()
      secured?.dropHandshakes()
    }
    return { server, drop }
  } catch (error) {
    throw networkFailure(error, `Cannot listen at ${written(at)}`)
  }
}

function bind(server: Server, at: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays for good: when the process runs out of descriptors a connection is lost, and the listener goes
    // on.
    server.on("error", reject)
    // Exclusive, or the workers of a node:cluster would share the port and take each other's connections.
    server.listen({ host: named(at.host), port: at.port, exclusive: true }, resolve)
  })
}

async function connect(
  to: Endpoint,
  { timeoutMs = 10_000, signal, tls }: ConnectOptions = {},
): Promise<Connection> {
  assert(Number.isFinite(timeoutMs), `timeoutMs must be a finite number, not ${timeoutMs}.`)
  const attempt = `Cannot connect to ${written(to)}`
  const cancelled = () => {
    return new NetworkError("Cancelled", `${attempt}: the caller cancelled it.`, { cause: signal?.reason })
  }
  if (signal?.aborted) throw cancelled()
  const socket = open(to, tls, attempt)

  return new Promise((resolve, reject) => {
    /** What to look at, once there is somebody at the other side. */
    let advice: string | undefined
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
      const text = `${attempt}: no answer within ${timeoutMs} ms.`
      fail(new NetworkError("TimedOut", advice === undefined ? text : `${text} ${advice}`))
    })
    const refuse = (error: Error) => fail(networkFailure(error, attempt, advice))
    signal?.addEventListener("abort", cancel)
    socket.on("error", refuse)
    if (tls !== undefined) {
      socket.once("connect", () => {
        advice = speaksTls
      })
    }
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      settle()
      socket.off("error", refuse)
      resolve(new NodeConnection(socket))
    })
  })
}

function open({ host, port }: Endpoint, tls: TlsOptions | undefined, attempt: string): Socket {
  try {
    const to = { ...socketOptions, host: named(host), port }
    const socket = tls === undefined ? connectSocket(to) : connectTls(to, tls)
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
