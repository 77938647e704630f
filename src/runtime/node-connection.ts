import assert from "node:assert/strict"
import type { Socket } from "node:net"
import { checkServerIdentity, TLSSocket } from "node:tls"
import type { CloseReason, Connection, ConnectionHandler, Endpoint } from "../ports/network.js"
import { networkFailure, written } from "./network-failure.js"

/**
 * A connected socket, paused at first, and half-open when one side ends.
 *
 * It listens for the end of the socket from the start, so that events before `attach` are kept and reported
 * after it. A socket calls its listeners from the event loop only, never from inside a call to it; so
 * `attach` reports earlier events in the next tick.
 *
 * TLS differs in three ways. The socket reads by itself, first for the handshake and then until its buffer
 * is full: before `attach`, back-pressure begins one buffer later, and the peer may already have ended. A
 * write reaches the system in the next turn, so `write` returns false for a single large chunk, and
 * `drained` follows. And a FIN that TLS has not announced is reported as `ended`: Node hides the
 * difference, and an attacker on the network can send one, so a protocol must know by itself when it has
 * received everything. A reset that arrives with the last bytes of a server's handshake is also reported as
 * `ended`; bytes written after it are never sent, as with a peer that never reads, and only `destroy` ends
 * the connection.
 */
export class NodeConnection implements Connection {
  readonly local: Endpoint
  readonly remote: Endpoint
  readonly bears: ((host: string) => boolean) | undefined
  readonly #socket: Socket
  #handler: ConnectionHandler | undefined
  #paused = false
  /** Whether `write` has returned false, and `drained` has not been called since. */
  #owesDrained = false
  #reason: CloseReason | undefined
  /**
   * Set by the event of the socket; its own `closed` is true one tick earlier, before the last event.
   */
  #isClosed = false
  #hasToldEnded = false

  constructor(socket: Socket) {
    // Kept because a closed socket has no addresses. A socket that was reset at once never had that of its
    // peer.
    this.local = { host: socket.localAddress ?? "unknown", port: socket.localPort ?? 0 }
    this.remote = { host: socket.remoteAddress ?? "unknown", port: socket.remotePort ?? 0 }
    this.bears = socket instanceof TLSSocket ? (host) => certificateBears(socket, host) : undefined
    this.#socket = socket
    socket.on("error", (error) => {
      const attempt = `connection with ${written(this.remote)} failed`
      this.#reason ??= { kind: "failed", error: networkFailure(error, attempt) }
      // A TLS socket would stay open after a record that it cannot read.
      socket.destroy()
    })
    socket.on("end", () => this.#ended())
    socket.on("drain", () => this.#drained())
    socket.on("close", () => this.#closed())
  }

  attach(handler: ConnectionHandler): void {
    assert(this.#handler === undefined, "a connection is attached twice")
    this.#handler = handler
    const socket = this.#socket
    // Node keeps emitting data that it has already read, also after destroy().
    socket.on("data", (chunk: Uint8Array) => {
      if (!socket.destroyed) handler.data(chunk)
    })
    if (!this.#paused) socket.resume()
    if (socket.readableEnded) process.nextTick(() => this.#ended())
    if (this.#isClosed) process.nextTick(() => this.#closed())
    else if (this.#owesDrained && !socket.writableNeedDrain) process.nextTick(() => this.#drained())
  }

  write(bytes: Uint8Array): boolean {
    const socket = this.#socket
    if (!socket.writable) return true
    // In newer versions of Node the result of `write` also counts a large chunk that the system already has.
    socket.write(bytes)
    if (socket.writableLength < socket.writableHighWaterMark) return true
    this.#owesDrained = true
    return false
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength
  }

  pause(): void {
    this.#paused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#paused = false
    if (this.#handler !== undefined) this.#socket.resume()
  }

  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#reason = { kind: "aborted" }
    this.#socket.destroy()
  }

  #ended(): void {
    if (this.#handler === undefined || this.#hasToldEnded || this.#reason !== undefined) return
    this.#hasToldEnded = true
    this.#handler.ended()
  }

  #drained(): void {
    if (this.#handler === undefined || !this.#owesDrained || !this.#socket.writable) return
    this.#owesDrained = false
    this.#handler.drained()
  }

  #closed(): void {
    this.#isClosed = true
    this.#handler?.closed(this.#reason ?? { kind: "ended" })
  }
}

/** An IPv6 address may be in brackets. A peer without a certificate names no host. */
function certificateBears(socket: TLSSocket, host: string): boolean {
  const certificate = socket.getPeerCertificate()
  if (Object.keys(certificate ?? {}).length === 0) return false
  return checkServerIdentity(host.replace(/^\[(.*)\]$/, "$1"), certificate) === undefined
}
