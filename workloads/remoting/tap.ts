import {
  binaryCodec,
  type CloseReason,
  type CodecFactory,
  type Connection,
  type ConnectionHandler,
  type Network,
} from "../../src/index.js"
import { FrameConnection } from "../../src/remote/frame-connection.js"
import { RelayedConnection, relayed } from "./relayed-connection.js"

/**
 * Listens in, between remoting and the world: which connections a system has, and by which of them each
 * message came. What was sent and never came is judged by that: within one connection nothing may be missing.
 */
export class Tap {
  readonly #listener: TapListener
  #connections = 0
  /** The connection whose bytes are being read at present. */
  #reading: number | undefined

  constructor(listener: TapListener) {
    this.#listener = listener
  }

  network(inner: Network): Network {
    return relayed(inner, (connection) => {
      this.#connections += 1
      return new TappedConnection(connection, this.#connections, this.#listener, (id) => {
        this.#reading = id
      })
    })
  }

  codec(make: CodecFactory = binaryCodec({ stacks: false })): CodecFactory {
    return (tools) => {
      const inner = make(tools)
      return {
        name: inner.name,
        encode: (value, out) => inner.encode(value, out),
        decode: (bytes, start, end) => {
          const value = inner.decode(bytes, start, end)
          if (this.#reading !== undefined) this.#listener.arrived(value, this.#reading)
          return value
        },
      }
    }
  }
}

export interface TapListener {
  opened(host: string): void
  /** The network takes no more: what is told from now on waits. */
  blocked(host: string): void
  /** It takes more again, and what has waited leaves. */
  drained(host: string): void
  /** It is of no use to this system any more. */
  closed(host: string): void
  arrived(message: unknown, connection: number): void
}

class TappedConnection extends RelayedConnection {
  readonly #id: number
  readonly #listener: TapListener
  readonly #reading: (id: number | undefined) => void
  #isOver = false

  constructor(
    inner: Connection,
    id: number,
    listener: TapListener,
    reading: (id: number | undefined) => void,
  ) {
    super(inner)
    this.#id = id
    this.#listener = listener
    this.#reading = reading
  }

  override attach(handler: ConnectionHandler): void {
    this.#listener.opened(this.remote.host)
    // Reading that was held goes on by itself, with bytes that came earlier.
    const frames = handler as FrameConnection
    const resume = () => FrameConnection.prototype.resumeReading.call(frames)
    frames.resumeReading = () => this.#whileReading(resume)
    super.attach(handler)
  }

  override data(chunk: Uint8Array): void {
    this.#whileReading(() => super.data(chunk))
  }

  #whileReading(read: () => void): void {
    this.#reading(this.#id)
    try {
      read()
    } finally {
      this.#reading(undefined)
    }
  }

  override write(bytes: Uint8Array): boolean {
    const takesMore = super.write(bytes)
    if (!takesMore && !this.#isOver) this.#listener.blocked(this.remote.host)
    return takesMore
  }

  override drained(): void {
    if (!this.#isOver) this.#listener.drained(this.remote.host)
    super.drained()
  }

  override end(): void {
    this.#over()
    super.end()
  }

  override destroy(): void {
    this.#over()
    super.destroy()
  }

  override closed(reason: CloseReason): void {
    this.#over()
    super.closed(reason)
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#listener.closed(this.remote.host)
  }
}
