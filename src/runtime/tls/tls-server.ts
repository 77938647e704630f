import type { Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import { NetworkError } from "../../errors/network-error.js"
import type { Arrival, Endpoint, ListenOptions, TlsOptions } from "../../ports/network.js"
import { networkFailure, written } from "../network-failure.js"
import { tlsCredentials } from "./tls-credentials.js"

/** How long a TLS handshake may take. Node's default of two minutes would let idle peers accumulate. */
const HANDSHAKE_TIMEOUT_MS = 10_000

interface TlsServer {
  /** Begins the handshake on a connected socket. */
  begin(socket: Socket, arrival: Arrival): void
  /** Forgets a socket: its end is not reported. */
  forget(socket: Socket): void
  /** Drops sockets whose handshake is in progress; they would be accepted after the listener has closed. */
  dropHandshakes(): void
}

/**
 * Hands over the sockets whose handshake succeeded, and drops the others without a reply: peers that sent
 * garbage, stayed silent or presented no valid certificate. The listener is notified, though Node reports a
 * bad certificate only as a closed socket.
 *
 * The server does not listen itself: the listener decides when a handshake begins.
 */
export function tlsServer(
  tls: TlsOptions,
  options: { readonly noDelay: boolean; readonly allowHalfOpen: boolean; readonly pauseOnConnect: boolean },
  accept: (socket: TLSSocket, arrival: Arrival) => void,
  refused: NonNullable<ListenOptions["refused"]> = () => {},
): TlsServer {
  let isDropping = false
  const shaking = new Map<string, { readonly socket: Socket; readonly arrival: Arrival }>()
  /** The errors of sockets that are about to close. */
  const problems = new Map<string, Error>()
  const server = createServer({
    ...options,
    ...tlsCredentials(tls),
    requestCert: tls.mutual === true,
    rejectUnauthorized: true,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  })
  server.on("secureConnection", (socket) => {
    const route = routeOf(socket)
    const arrival = shaking.get(route)?.arrival
    shaking.delete(route)
    if (arrival === undefined) socket.destroy()
    else accept(socket, arrival)
  })
  // Node does not close the socket of a peer that took too long.
  server.on("tlsClientError", (error, socket) => {
    const route = routeOf(socket)
    if (shaking.has(route)) problems.set(route, error)
    socket.destroy()
  })
  return {
    begin: (socket, arrival) => {
      const route = routeOf(socket)
      const { remote } = arrival
      shaking.set(route, { socket, arrival })
      socket.once("close", () => {
        if (shaking.get(route)?.socket !== socket) return
        shaking.delete(route)
        if (!isDropping) refused(remote, failureWith(remote, problems.get(route), tls), arrival)
        problems.delete(route)
      })
      server.emit("connection", socket)
    },
    forget: (socket) => {
      const route = routeOf(socket)
      if (shaking.get(route)?.socket === socket) shaking.delete(route)
    },
    dropHandshakes: () => {
      isDropping = true
      for (const { socket } of shaking.values()) socket.destroy()
    },
  }
}

function failureWith(remote: Endpoint, problem: Error | undefined, { mutual }: TlsOptions): NetworkError {
  const attempt = `TLS handshake with ${written(remote)} failed`
  if (problem !== undefined) return networkFailure(problem, attempt)
  if (mutual !== true) return new NetworkError("Reset", `${attempt}: the peer closed the connection`)
  return new NetworkError(
    "Untrusted",
    `${attempt}: the peer closed the connection, or its certificate is not signed by \`tls.ca\``,
  )
}

/**
 * Identifies a connection. A TLS socket and the socket beneath it give the same result, and Node has no
 * other way to get from one to the other.
 */
function routeOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}
