import { NetworkError } from "../errors/network-error.js"
import type { CloseReason, Connection, ConnectionHandler, Endpoint } from "../ports/network.js"
import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"

/** Returns the two ends of a connection. */
export function openPair(
  client: SimProcess,
  from: Endpoint,
  server: SimProcess,
  to: Endpoint,
): [client: SimConnection, server: SimConnection] {
  const near = new SimConnection(client, from, to)
  const far = new SimConnection(server, to, from)
  near.peer = far
  far.peer = near
  return [near, far]
}

type Parcel =
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  | { readonly kind: "end" }
  | { readonly kind: "reset" }

/**
 * One end of a simulated TCP connection.
 *
 * The bytes that an end sends travel as parcels in a queue of their own, in order. A parcel is due after the
 * latency drawn for it and never before the one ahead of it. A partition holds the whole queue until it
 * heals, as retransmission would. The two ends are separate: one may consider the connection open when the
 * other does not.
 *
 * An end that is paused, or has no handler yet, leaves arrived parcels in the queue, and the sender's buffer
 * fills up: this is back-pressure.
 */
export class SimConnection implements Connection {
  readonly local: Endpoint
  readonly remote: Endpoint
  readonly process: SimProcess
  /** The other end; always set, even if it is closed or its process is dead. */
  peer!: SimConnection
  #handler: ConnectionHandler | undefined
  /** The parcels that are in flight to this end, or wait at it. */
  #incoming: { readonly parcel: Parcel; readonly leftAt: SimMicros; readonly dueAt: SimMicros }[] = []
  #outstanding = 0
  #lastDueAt: SimMicros = 0
  #paused = false
  #full = false
  #sentEnd = false
  #gotEnd = false
  #closed: CloseReason | undefined
  #toldClosed = false

  constructor(proc: SimProcess, local: Endpoint, remote: Endpoint) {
    this.process = proc
    this.local = local
    this.remote = remote
  }

  get isOpen(): boolean {
    return this.#closed === undefined
  }

  get bufferedBytes(): number {
    return Math.max(0, this.#outstanding - IN_THE_SYSTEM_BYTES)
  }

  attach(handler: ConnectionHandler): void {
    if (this.#handler !== undefined) throw new Error("the connection already has a handler")
    this.#handler = handler
    if (this.#closed !== undefined) this.#tellClosed()
    this.#wake()
  }

  write(bytes: Uint8Array): boolean {
    this.process.enterCall("connection.write")
    if (!this.isOpen || this.#sentEnd || bytes.length === 0) return true
    this.#outstanding += bytes.length
    for (const part of this.#cut(bytes)) this.#send({ kind: "data", bytes: part })
    this.#full = this.bufferedBytes > 0
    return !this.#full
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.#wake()
  }

  end(): void {
    this.process.enterCall("connection.end")
    if (!this.isOpen || this.#sentEnd) return
    this.#sentEnd = true
    this.#send({ kind: "end" })
    this.#closeIfBothEnded()
  }

  destroy(): void {
    this.process.enterCall("connection.destroy")
    if (!this.isOpen) return
    this.#send({ kind: "reset" })
    this.#close({ kind: "aborted" })
  }

  /** Called when the process of this end has died. Its machine resets the connection, unless `silent`. */
  ownerDied(silent: boolean): void {
    if (!this.isOpen) return
    const { now } = this.process
    // Drops what it would have sent after a pause in which it died.
    this.peer.#incoming = this.peer.#incoming.filter(({ leftAt }) => leftAt <= now)
    if (!silent) this.#send({ kind: "reset" })
    this.#closed = { kind: "aborted" }
    this.#handler = undefined
    this.#incoming = []
  }

  /** Breaks the connection from outside. */
  cut(how: "reset" | "end"): void {
    const { now } = this.process.world
    for (const end of [this, this.peer]) {
      if (how === "reset") end.#incoming = []
      end.#arrive({ kind: how }, now, now)
    }
  }

  /** Called when a partition that held parcels may have healed. */
  heal(): void {
    this.#wake()
    if (!this.peer.isOpen) this.peer.#wake()
  }

  #send(parcel: Parcel): void {
    const { world } = this.process
    const size = parcel.kind === "data" ? parcel.bytes.length : 0
    const dueAt = Math.max(this.#lastDueAt, this.process.now + world.latency(size))
    this.#lastDueAt = dueAt
    this.peer.#arrive(parcel, this.process.now, dueAt)
  }

  #arrive(parcel: Parcel, leftAt: SimMicros, dueAt: SimMicros): void {
    if (!this.process.isAlive || (this.#closed !== undefined && this.#closed.kind !== "ended")) return
    this.#incoming.push({ parcel, leftAt, dueAt })
    this.#wakeAt(dueAt)
  }

  #wake(): void {
    const next = this.#incoming[0]
    if (next !== undefined) this.#wakeAt(next.dueAt)
  }

  /**
   * Each wake-up takes the parcel that is next by then, so the order does not depend on the order of
   * wake-ups.
   */
  #wakeAt(at: SimMicros): void {
    const { world } = this.process
    world.schedule(Math.max(at, world.now), this.process, `${this.remote.host} -> ${this.local.host}`, () =>
      this.#take(),
    )
  }

  #take(): void {
    const next = this.#incoming[0]
    const { world } = this.process
    if (next === undefined || next.dueAt > world.now) return
    if (world.isCut(this.peer.process, this.process)) return
    const isWaiting = this.isOpen && (this.#handler === undefined || this.#paused)
    if (isWaiting && next.parcel.kind !== "reset") return
    this.#incoming.shift()
    if (this.isOpen) this.#receive(next.parcel)
    else if (next.parcel.kind === "data") this.#send({ kind: "reset" })
    this.#wake()
  }

  #receive(parcel: Parcel): void {
    switch (parcel.kind) {
      case "data":
        this.peer.#taken(parcel.bytes.length)
        // After an end that the other side did not send, its further bytes are lost.
        if (this.#gotEnd) return
        // A copy, because two processes share no memory; `slice` would not copy a `Buffer`.
        this.#handler?.data(this.process.world.corrupted(new Uint8Array(parcel.bytes)))
        return
      case "end":
        if (this.#gotEnd) return
        this.#gotEnd = true
        this.#handler?.ended()
        this.#closeIfBothEnded()
        return
      case "reset":
        this.#close({
          kind: "failed",
          error: new NetworkError("Reset", `${this.remote.host} reset the connection`),
        })
    }
  }

  /** Called when the other side has taken this number of bytes. */
  #taken(bytes: number): void {
    this.#outstanding -= bytes
    if (!this.#full || this.bufferedBytes > 0 || !this.isOpen) return
    this.#full = false
    this.process.later(0, "drained", () => {
      if (this.isOpen) this.#handler?.drained()
    })
  }

  #closeIfBothEnded(): void {
    if (this.#sentEnd && this.#gotEnd) this.#close({ kind: "ended" })
  }

  #close(reason: CloseReason): void {
    if (this.#closed !== undefined) return
    this.#closed = reason
    // For other reasons a reset has been sent or received. Here the other side may still write, and has yet
    // to learn of the end.
    if (reason.kind !== "ended") this.#incoming = []
    this.process.network.connections.delete(this)
    this.#tellClosed()
  }

  #tellClosed(): void {
    if (this.#handler === undefined) return
    this.process.later(0, "closed", () => {
      if (this.#toldClosed) return
      this.#toldClosed = true
      this.#handler?.closed(this.#closed as CloseReason)
    })
  }

  #cut(bytes: Uint8Array): Uint8Array[] {
    const { world } = this.process
    if (bytes.length < 2 || !world.draw("partial-write", 0.5)) return [bytes]
    const at = 1 + world.random.below(bytes.length - 1)
    return [bytes.subarray(0, at), bytes.subarray(at)]
  }
}

/** The bytes that an operating system buffers at both ends before a sender notices. */
const IN_THE_SYSTEM_BYTES = 128 * 1024
