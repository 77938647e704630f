import type { NetworkError } from "../errors/network-error.js"

/**
 * Byte streams between nodes.
 *
 * A connection pushes: it calls its handler, and the handler may pause it. Streams of promises would be more
 * convenient, but cost an allocation and a microtask per chunk. Back-pressure works both ways: `write`
 * returns false when the sender should stop, and `drained` tells it to continue; `pause` stops reading, so
 * that the peer's writes fill its buffers in turn.
 *
 * Every failure is a `NetworkError` with a closed set of codes, so that protocols decide by the code, never
 * by the error text of an operating system.
 */
export interface Network {
  /**
   * Listens for connections. Port 0 lets the operating system choose. Rejects with a {@link NetworkError}, as
   * `connect` does.
   */
  listen(at: Endpoint, accept: Accept, options?: ListenOptions): Promise<Listener>
  /** Connects to a listener. */
  connect(to: Endpoint, options?: ConnectOptions): Promise<Connection>
}

/**
 * Receives an accepted connection. `arrival` is the one that `ListenOptions.arrived` was called with, if it
 * was called.
 */
export type Accept = (connection: Connection, arrival?: Arrival) => void

/** A host and a port. */
export interface Endpoint {
  /** A host name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string
  /** The port, from 1 to 65535; 0 for a listener lets the operating system choose. */
  readonly port: number
}

/** Options of a listener. */
export interface ListenOptions {
  /** TLS options; default plain TCP. */
  readonly tls?: TlsOptions | undefined
  /**
   * Called when a peer has connected and nothing has been read. By default each arrival is admitted at once.
   * A network that learns of a peer only with its connection need not call it.
   */
  readonly arrived?: ((arrival: Arrival) => void) | undefined
  /** Called when the TLS handshake of an arrival failed, so that there is no connection to accept. */
  readonly refused?: ((remote: Endpoint, error: NetworkError, arrival: Arrival) => void) | undefined
}

/** A peer that has connected to a listener: before TLS, and before anything was read. */
export interface Arrival {
  readonly remote: Endpoint
  /** Continues with the arrival: it will be accepted or refused. Called at most once. */
  admit(): void
  /** Closes the arrival. Neither `accept` nor `refused` is called. */
  drop(): void
}

/** The certificate of this side, and the certificates that it trusts, as PEM. */
export interface TlsOptions {
  /** The certificate of this side, with its chain. */
  readonly cert: string
  /** The private key of the certificate. */
  readonly key: string
  /** The authority that signs the certificates of peers. Default: the authorities of the machine. */
  readonly ca?: string | undefined
  /** Requires a certificate of peers that connect, signed by `ca`. Needs `ca`. Default false. */
  readonly mutual?: boolean | undefined
  /** The name that a peer's certificate must have. Default: the host that was dialled. */
  readonly serverName?: string | undefined
}

/** Options of an outgoing connection. */
export interface ConnectOptions {
  /** How long connecting may take. Default 10,000. */
  readonly timeoutMs?: number
  /** Cancels the attempt. */
  readonly signal?: AbortSignal
  /** TLS options; default plain TCP. */
  readonly tls?: TlsOptions | undefined
}

/** A port that accepts connections. */
export interface Listener {
  /** The endpoint that is bound: the port is never 0. */
  readonly at: Endpoint
  /** Stops accepting. Accepted connections stay open. Resolves once the port is free. */
  close(): Promise<void>
}

/** A connection to a peer. */
export interface Connection {
  /** The endpoint of this side. */
  readonly local: Endpoint
  /** The endpoint of the peer. */
  readonly remote: Endpoint
  /**
   * Says whether the peer's certificate is valid for this host name or address; undefined if the peer
   * presented none.
   */
  readonly bears?: ((host: string) => boolean) | undefined
  /**
   * Starts delivery. Nothing is read before this is called. It is called once, in the turn in which the
   * connection was handed over or later.
   */
  attach(handler: ConnectionHandler): void
  /**
   * Queues the bytes, in order. Never fails itself: failures are reported by `closed`. The bytes must not be
   * changed afterwards. Returns false if too much is buffered: wait for `drained`.
   */
  write(bytes: Uint8Array): boolean
  /** The number of bytes that were written and not yet handed to the operating system. */
  readonly bufferedBytes: number
  /** Stops reading. */
  pause(): void
  /** Reads again after `pause`. */
  resume(): void
  /**
   * Sends what was written, then ends this direction. The peer's handler gets `ended`. Later writes are
   * dropped.
   */
  end(): void
  /** Closes both directions at once; unsent bytes are lost. `closed` follows, with the reason `aborted`. */
  destroy(): void
}

/** Receives the events of a connection. */
export interface ConnectionHandler {
  /** Bytes arrived. The handler owns the chunk. */
  data(chunk: Uint8Array): void
  /** The connection accepts writes again, after `write` returned false. */
  drained(): void
  /** The peer has ended its direction. This side may still write, until it calls `end`. */
  ended(): void
  /** The connection is closed. This is the last call, made exactly once. */
  closed(reason: CloseReason): void
}

/** Why a connection was closed. */
export type CloseReason =
  /** Both sides ended. */
  | { readonly kind: "ended" }
  /** This side called `destroy`. */
  | { readonly kind: "aborted" }
  | { readonly kind: "failed"; readonly error: NetworkError }
