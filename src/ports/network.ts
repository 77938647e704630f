import type { NetworkError } from "../errors/network-error.js"

/**
 * Byte streams between nodes.
 *
 * A connection pushes: it calls its handler, and the handler may pause it. Streams of promises would be
 * prettier and cost an allocation and a microtask for every chunk. Back-pressure runs both ways: `write` says
 * when to stop, `drained` when to go on; `pause` stops reading, so that the peer's writes fill up in turn.
 *
 * Every failure is a `NetworkError` with a closed set of codes, so that protocols decide on the code, never
 * on an operating system's error text.
 */
export interface Network {
  /** Port 0 lets the system choose. Rejects with a {@link NetworkError}, as `connect` does. */
  listen(at: Endpoint, accept: Accept, options?: ListenOptions): Promise<Listener>
  connect(to: Endpoint, options?: ConnectOptions): Promise<Connection>
}

/** `arrival` is the one that was told of, where `ListenOptions.arrived` was. */
export type Accept = (connection: Connection, arrival?: Arrival) => void

export interface Endpoint {
  /** A host name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string
  readonly port: number
}

export interface ListenOptions {
  /** Plain TCP unless set. */
  readonly tls?: TlsOptions | undefined
  /**
   * Somebody has connected, and nothing has been read. Each is let in at once unless this is set. A network
   * that knows of nobody before there is a connection need not tell.
   */
  readonly arrived?: ((arrival: Arrival) => void) | undefined
  /** Somebody connected whose TLS handshake came to nothing, so that there is no connection to accept. */
  readonly refused?: ((remote: Endpoint, error: NetworkError, arrival: Arrival) => void) | undefined
}

/** Somebody who has connected to a listener: before TLS, and before anything was read. */
export interface Arrival {
  readonly remote: Endpoint
  /** Goes on with it: it will be accepted or refused. Called once at most. */
  admit(): void
  /** Closes it. Nobody is told. */
  drop(): void
}

/** Who this side is, and whom it believes. Texts are PEM. */
export interface TlsOptions {
  readonly cert: string
  readonly key: string
  /** Whose signature makes a peer's certificate good. The machine's own authorities unless set. */
  readonly ca?: string | undefined
  /** A listener asks for the peer's certificate too, and refuses one that `ca` did not sign. Needs `ca`. */
  readonly mutual?: boolean | undefined
  /** The name that a peer's certificate must bear, where it is not the host that is dialled. */
  readonly serverName?: string | undefined
}

export interface ConnectOptions {
  /** 10,000 unless set. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Plain TCP unless set. */
  readonly tls?: TlsOptions | undefined
}

export interface Listener {
  /** Where it really listens: the port is never 0. */
  readonly at: Endpoint
  /** Accepts no more. Connections that were accepted live on. Resolves once the port is free. */
  close(): Promise<void>
}

export interface Connection {
  readonly local: Endpoint
  readonly remote: Endpoint
  /** Whether the peer's certificate bears this host name or address; undefined where the peer showed none. */
  readonly bears?: ((host: string) => boolean) | undefined
  /**
   * Starts delivery. Nothing is read before this is called, and it is called once, in the turn in which the
   * connection was handed over or later.
   */
  attach(handler: ConnectionHandler): void
  /**
   * Takes the bytes, in order, and never fails itself: what goes wrong is told by `closed`. The bytes must
   * not be changed afterwards. False says that more is buffered than the connection likes: wait for
   * `drained`.
   */
  write(bytes: Uint8Array): boolean
  /** Bytes taken by `write` that have not been handed to the operating system. */
  readonly bufferedBytes: number
  pause(): void
  resume(): void
  /**
   * Sends what was written, then ends this direction. The peer sees `ended`. Writes after this are dropped.
   */
  end(): void
  /** Closes now, both ways; what was not sent is lost. `closed` follows, with the reason `aborted`. */
  destroy(): void
}

export interface ConnectionHandler {
  /** The chunk is the handler's to keep. */
  data(chunk: Uint8Array): void
  drained(): void
  /** The peer will send no more. This side may still write, until it calls `end`. */
  ended(): void
  /** The last call, made exactly once. */
  closed(reason: CloseReason): void
}

export type CloseReason =
  /** Both sides ended. */
  | { readonly kind: "ended" }
  /** This side called `destroy`. */
  | { readonly kind: "aborted" }
  | { readonly kind: "failed"; readonly error: NetworkError }
