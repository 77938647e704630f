import type { CloseReason, Connection, ConnectionHandler, Endpoint, Network } from "../../src/index.js"

/** A network whose connections are wrapped. */
export function relayed(inner: Network, wrap: (connection: Connection) => Connection): Network {
  return {
    listen: (at, accept, options) => inner.listen(at, (connection) => accept(wrap(connection)), options),
    connect: async (to, options) => wrap(await inner.connect(to, options)),
  }
}

/** Hands everything on, both ways: what extends it changes one thing. */
export class RelayedConnection implements Connection, ConnectionHandler {
  protected readonly inner: Connection
  protected handler!: ConnectionHandler

  constructor(inner: Connection) {
    this.inner = inner
  }

  get local(): Endpoint {
    return this.inner.local
  }

  get remote(): Endpoint {
    return this.inner.remote
  }

  get bufferedBytes(): number {
    return this.inner.bufferedBytes
  }

  attach(handler: ConnectionHandler): void {
    this.handler = handler
    this.inner.attach(this)
  }

  write(bytes: Uint8Array): boolean {
    return this.inner.write(bytes)
  }

  pause(): void {
    this.inner.pause()
  }

  resume(): void {
    this.inner.resume()
  }

  end(): void {
    this.inner.end()
  }

  destroy(): void {
    this.inner.destroy()
  }

  data(chunk: Uint8Array): void {
    this.handler.data(chunk)
  }

  drained(): void {
    this.handler.drained()
  }

  ended(): void {
    this.handler.ended()
  }

  closed(reason: CloseReason): void {
    this.handler.closed(reason)
  }
}
