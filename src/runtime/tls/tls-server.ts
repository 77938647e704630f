import type { Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import { NetworkError } from "../../errors/network-error.js"
import type { Arrival, Endpoint, ListenOptions, TlsOptions } from "../../ports/network.js"
import { networkFailure, written } from "../network-failure.js"
import { tlsCredentials } from "./tls-credentials.js"

/** How long a peer may take to prove who it is. Node's own two minutes would let idle strangers pile up. */
const HANDSHAKE_TIMEOUT_MS = 10_000

interface TlsServer {
  /** Begins the handshake with somebody who has connected. */
  begin(socket: Socket, arrival: Arrival): void
  /** Nobody is to be told of the end of this one. */
  forget(socket: Socket): void
  /** Drops those whose handshake is under way; they would be accepted after the listener has closed. */
  dropHandshakes(): void
}

/**
 * Hands over the sockets whose handshake succeeded, and drops the others: to a stranger that sent garbage,
 * stayed silent or showed no good certificate there is nothing to say. Whoever listens is told of it, though
 * of a bad certificate Node says no more than that the socket is gone.
 *
 * It listens nowhere itself: whoever does decides when a handshake begins.
 */
export function tlsServer(
  tls: TlsOptions,
  options: { readonly noDelay: boolean; readonly allowHalfOpen: boolean; readonly pauseOnConnect: boolean },
  accept: (socket: TLSSocket, arrival: Arrival) => void,
  refused: NonNullable<ListenOptions["refused"]> = () => {},
): TlsServer {
  let isDropping = false
  const shaking = new Map<string, { readonly socket: Socket; readonly arrival: Arrival }>()
  /** What went wrong with those that are about to close. */
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
  // Node leaves a peer that took too long where it is.
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
  const attempt = `The TLS handshake with ${written(remote)} failed`
  if (problem !== undefined) return networkFailure(problem, attempt)
  if (mutual !== true) return new NetworkError("Reset", `${attempt}: it hung up.`)
  return new NetworkError(
    "Untrusted",
    `${attempt}: it hung up, or its certificate is not one that \`tls.ca\` has signed.`,
  )
}

/**
 * Says which connection it is. The socket beneath a TLS socket has the same, and Node tells no other way from
 * one to the other.
 */
function routeOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}
