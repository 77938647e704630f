import type { Server, Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import type { TlsOptions } from "../ports/network.js"
import { tlsCredentials } from "./tls-credentials.js"

/** How long a peer may take to prove who it is. Node's own two minutes would let idle strangers pile up. */
const HANDSHAKE_TIMEOUT_MS = 10_000

export interface TlsServer {
  readonly server: Server
  /** Drops those whose handshake is under way; they would be accepted after the listener has closed. */
  dropHandshakes(): void
}

/**
 * Hands over the sockets whose handshake succeeded, and drops the others: to a stranger that sent garbage, stayed silent
 * or showed no good certificate there is nothing to say, and nobody here who waits for it.
 */
export function tlsServer(
  tls: TlsOptions,
  options: { readonly noDelay: boolean; readonly allowHalfOpen: boolean; readonly pauseOnConnect: boolean },
  accept: (socket: TLSSocket) => void,
): TlsServer {
  const shaking = new Map<string, Socket>()
  const server = createServer({
    ...options,
    ...tlsCredentials(tls),
    requestCert: tls.mutual === true,
    rejectUnauthorized: true,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  })
  server.on("connection", (socket) => {
    const route = routeOf(socket)
    shaking.set(route, socket)
    socket.once("close", () => {
      if (shaking.get(route) === socket) shaking.delete(route)
    })
  })
  server.on("secureConnection", (socket) => {
    shaking.delete(routeOf(socket))
    accept(socket)
  })
  // Node leaves a peer that took too long where it is.
  server.on("tlsClientError", (_, socket) => socket.destroy())
  return {
    server,
    dropHandshakes: () => {
      for (const socket of shaking.values()) socket.destroy()
    },
  }
}

/** Says which connection it is. The socket beneath a TLS socket has the same, and Node tells no other way from one to the other. */
function routeOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}
