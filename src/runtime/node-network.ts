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
 * TCP, and TLS 1.3 over it. Small writes are sent at once, and a connection whose peer has ended can still be
 * written to.
 *
 * With TLS, a connection is handed over once the handshake of this side has succeeded. The client finishes
 * first: it has verified the server, which has yet to verify it. A client that a mutual listener refuses is
 * therefore connected, and then sees its connection end or fail before a byte was read; Node's servers do not
 * say why. A listener, in turn, may be handed the connection of a client that has just refused it.
 */
export const nodeNetwork: Network = { listen, connect }

const socketOptions = { noDelay: true, allowHalfOpen: true }
const acceptedOptions = { ...socketOptions, pauseOnConnect: true }

async function listen(at: Endpoint, accept: Accept, options: ListenOptions = {}): Promise<Listener> {
  const { server, drop } = await bound(at, accept, options)
  const address = server.address()
  assert(typeof address === "object" && address !== null, "a server that listens on a port has no address")
  return {
    at: { host: address.address, port: address.port },
    close: async () => {
      // The port is free once this returns. The callback would also wait for the accepted connections.
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
    /** The sockets that have not been admitted. */
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
    throw networkFailure(error, `cannot listen on ${written(at)}`)
  }
}

function bind(server: Server, at: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    // Never removed: when the process runs out of descriptors, a connection is lost, and the listener
    // continues.
    server.on("error", reject)
    // Exclusive: otherwise the workers of a node:cluster would share the port and its connections.
    server.listen({ host: named(at.host), port: at.port, exclusive: true }, resolve)
  })
}

async function connect(
  to: Endpoint,
  { timeoutMs = 10_000, signal, tls }: ConnectOptions = {},
): Promise<Connection> {
  assert(Number.isFinite(timeoutMs), `timeoutMs must be a finite number (got ${timeoutMs})`)
  const attempt = `cannot connect to ${written(to)}`
  const cancelled = () => {
    return new NetworkError("Cancelled", `${attempt}: cancelled by the caller`, { cause: signal?.reason })
  }
  if (signal?.aborted) throw cancelled()
  const socket = open(to, tls, attempt)

  return new Promise((resolve, reject) => {
    /** The advice once the TCP connection is open. */
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
      const text = `${attempt}: no answer within ${timeoutMs} ms`
      fail(new NetworkError("TimedOut", advice === undefined ? text : `${text}; ${advice}`))
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

/** Node treats an empty host as this machine, or as all of its addresses. */
function named(host: string): string {
  if (host === "") throw new Error("host must not be empty")
  return host
}
