import type { EventStream } from "../actor/event-stream.js"
import type { NetworkError } from "../errors/network-error.js"
import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Arrival, Connection, Endpoint } from "../ports/network.js"
import { ConnectionRefused } from "./association-events.js"
import { adviceFor, type DisconnectReason } from "./disconnect-reason.js"
import type { PeerConnection } from "./peer-connection.js"
import type { PeerConnections } from "./peer-connections.js"
import type { RemoteNode } from "./remote-node.js"
import { type UnprovenCommand, UnprovenConnections } from "./unproven-connections.js"

/** Handles incoming connections until the peer has proven its identity or is refused. */
export class Arrivals {
  readonly #options: ArrivalsOptions
  readonly #connections: PeerConnections
  readonly #limit = new UnprovenConnections<Arrival>(MOST_UNPROVEN)
  /** The unproven connections whose handshake has begun. */
  readonly #unproven = new Map<Arrival, PeerConnection>()
  #refusals = 0
  #quietUntil: MonotonicMs = Number.NEGATIVE_INFINITY

  constructor(options: ArrivalsOptions, connections: PeerConnections) {
    this.#options = options
    this.#connections = connections
  }

  /** Called when a peer has connected; with TLS, before the TLS handshake. */
  arrived(arrival: Arrival): void {
    this.#do(this.#limit.arrived(arrival, arrival.remote.host))
  }

  accept(connection: Connection, arrival: Arrival | undefined): void {
    if (arrival !== undefined && this.#limit.has(arrival)) return this.#startHandshake(connection, arrival)
    const late: Arrival = {
      remote: connection.remote,
      admit: () => this.#startHandshake(connection, late),
      drop: () => connection.destroy(),
    }
    this.arrived(late)
  }

  /** Called when the TLS handshake of an arrival has failed. */
  refused(remote: Endpoint, error: NetworkError, arrival: Arrival): void {
    this.#do(this.#limit.left(arrival))
    const because = error.code === "Untrusted" ? "untrusted" : "unreachable"
    this.#reportRefusal(written(remote), because, error.message)
  }

  /** Closes every connection whose peer has not proven its identity. */
  closeUnproven(because: DisconnectReason): void {
    for (const peer of [...this.#unproven.values()]) peer.close(because)
  }

  #startHandshake(connection: Connection, arrival: Arrival): void {
    const left = () => {
      this.#unproven.delete(arrival)
      this.#do(this.#limit.left(arrival))
    }
    const peer: PeerConnection = this.#connections.open(
      connection,
      {
        kind: "listener",
        owner: (node) => this.#options.nodeOf(node.address),
        refused: (because, detail) => this.#reportRefusal(peer.remote, because, detail),
        closed: left,
        proven: left,
      },
      (nonce) => this.#limit.admitHello(arrival, nonce),
    )
    this.#unproven.set(arrival, peer)
    peer.start()
  }

  #do(commands: readonly UnprovenCommand<Arrival>[]): void {
    for (const { kind, connection } of commands) {
      if (this.#connections.isStopping) connection.drop()
      else if (kind === "admit") connection.admit()
      else this.#crowdOut(connection)
    }
  }

  #crowdOut(connection: Arrival): void {
    const peer = this.#unproven.get(connection)
    if (peer !== undefined) return peer.close("crowded-out")
    connection.drop()
    this.#reportRefusal(written(connection.remote), "crowded-out", "")
  }

  #reportRefusal(remote: string, because: DisconnectReason, detail: string): void {
    const { events, logger, clock } = this.#options
    events.publish(new ConnectionRefused(remote, because, detail))
    const now = clock.monotonicMs()
    if (now >= this.#quietUntil) this.#refusals = 0
    this.#refusals += 1
    if (this.#refusals === 1) this.#quietUntil = now + 60_000
    if (this.#refusals > LOGGED_A_MINUTE) return
    logger.log(because === "duplicate" ? "debug" : "warn", "an incoming connection was refused", {
      remote,
      reason: because,
      detail,
      advice: adviceFor(because, this.#options),
      ...(this.#refusals === LOGGED_A_MINUTE ? { note: "no more of these for a minute" } : {}),
    })
  }
}

interface ArrivalsOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly events: EventStream
  /** Whether nodes use TLS. */
  readonly isTls: boolean
  nodeOf(authority: string): RemoteNode
}

/**
 * Limit of unproven connections, and of connections that wait to become one. All nodes of a large cluster may
 * connect at the same time.
 */
const MOST_UNPROVEN = 512
const LOGGED_A_MINUTE = 10

function written({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
}
