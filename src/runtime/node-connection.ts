import assert from "node:assert/strict"
import type { Socket } from "node:net"
import { checkServerIdentity, TLSSocket } from "node:tls"
import type { CloseReason, Connection, ConnectionHandler, Endpoint } from "../ports/network.js"
import { networkFailure, written } from "./network-failure.js"

/**
 * A socket that is connected, paused, and half-open when one side ends.
 *
 * It listens for the socket's end from its first moment on, so that what happens before `attach` is kept and
 * told after it. A socket calls back from the event loop only, never from inside a call that is made to it;
 * what `attach` has to catch up with waits for the next tick, for the same reason.
 *
 * Under TLS three things differ. The socket reads by itself, first for the handshake and then until its
 * buffer is full: before `attach` the peer is held back a buffer later, and its end may have come. A write
 * reaches the system in the next turn, so that `write` says false to one large chunk, and `drained` follows.
 * And a FIN that TLS has not announced is told as `ended`: Node hides the difference, and an attacker on the
 * wire can send one, so a protocol must know by itself when it has heard everything. So is a reset that meets
 * the last bytes of a server's handshake; what is written after it stays for ever, as it does where a peer
 * never reads, and it takes `destroy` to be rid of the connection.
 */
export class NodeConnection implements Connection {
  readonly local: Endpoint
  readonly remote: Endpoint
  readonly bears: ((host: string) => boolean) | undefined
  readonly #socket: Socket
  #handler: ConnectionHandler | undefined
  #paused = false
  /** `write` has said false, and `drained` has not been told since. */
  #owesDrained = false
  #reason: CloseReason | undefined
  /**
   * The socket has said so. Its own `closed` is true a tick earlier, when there is still an event to come.
   */
  #isClosed = false
  #hasToldEnded = false

  constructor(socket: Socket) {
    // Kept, because a socket forgets its addresses once it is closed. One that is reset at once never knew
    // its peer.
    this.local = { host: socket.localAddress ?? "unknown", port: socket.localPort ?? 0 }
    this.remote = { host: socket.remoteAddress ?? "unknown", port: socket.remotePort ?? 0 }
    this.bears = socket instanceof TLSSocket ? (host) => certificateBears(socket, host) : undefined
    this.#socket = socket
    socket.on("error", (error) => {
      const attempt = `The connection with ${written(this.remote)} failed`
      this.#reason ??= { kind: "failed", error: networkFailure(error, attempt) }
      // A TLS socket would live on after a record that it cannot read.
      socket.destroy()
    })
    socket.on("end", () => this.#ended())
    socket.on("drain", () => this.#drained())
    socket.on("close", () => this.#closed())
  }

  attach(handler: ConnectionHandler): void {
    assert(this.#handler === undefined, "A connection is attached once.")
    this.#handler = handler
    const socket = this.#socket
    // Node goes on emitting what it has read already, also after destroy().
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
    // Its own answer counts, in newer versions of Node, a large chunk that the system has taken already.
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

/** An IPv6 address may be in brackets. A peer that showed no certificate bears nothing. */
function certificateBears(socket: TLSSocket, host: string): boolean {
  const certificate = socket.getPeerCertificate()
  if (Object.keys(certificate ?? {}).length === 0) return false
  return checkServerIdentity(host.replace(/^\[(.*)\]$/, "$1"), certificate) === undefined
}
