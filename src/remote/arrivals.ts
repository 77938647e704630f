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
import { type StrangerCommand, Strangers } from "./strangers.js"

/** Connections that come in, from their arrival until the peer has proven who it is or is turned away. */
export class Arrivals {
  readonly #options: ArrivalsOptions
  readonly #connections: PeerConnections
  readonly #strangers = new Strangers<Arrival>(MOST_STRANGERS)
  /** The connections of those strangers whose handshake has begun. */
  readonly #unproven = new Map<Arrival, PeerConnection>()
  #refusals = 0
  #quietUntil: MonotonicMs = Number.NEGATIVE_INFINITY

  constructor(options: ArrivalsOptions, connections: PeerConnections) {
    this.#options = options
    this.#connections = connections
  }

  /** Somebody has connected. With TLS its handshake is still to come. */
  arrived(arrival: Arrival): void {
    this.#do(this.#strangers.arrived(arrival, arrival.remote.host))
  }

  accept(connection: Connection, arrival: Arrival | undefined): void {
    if (arrival !== undefined && this.#strangers.has(arrival)) return this.#greet(connection, arrival)
    const late: Arrival = {
      remote: connection.remote,
      admit: () => this.#greet(connection, late),
      drop: () => connection.destroy(),
    }
    this.arrived(late)
  }

  /** The TLS handshake of an arrival has failed. */
  refused(remote: Endpoint, error: NetworkError, arrival: Arrival): void {
    this.#do(this.#strangers.left(arrival))
    const because = error.code === "Untrusted" ? "untrusted" : "unreachable"
    this.#turnedAway(written(remote), because, error.message)
  }

  /** Closes every connection whose peer has not proven itself. */
  closeUnproven(because: DisconnectReason): void {
    for (const peer of [...this.#unproven.values()]) peer.close(because)
  }

  #greet(connection: Connection, arrival: Arrival): void {
    const left = () => {
      this.#unproven.delete(arrival)
      this.#do(this.#strangers.left(arrival))
    }
    const peer: PeerConnection = this.#connections.open(
      connection,
      {
        kind: "listener",
        owner: (node) => this.#options.nodeOf(node.address),
        refused: (because, detail) => this.#turnedAway(peer.remote, because, detail),
        over: left,
        settled: left,
      },
      (nonce) => this.#strangers.greeted(arrival, nonce),
    )
    this.#unproven.set(arrival, peer)
    peer.start()
  }

  #do(commands: readonly StrangerCommand<Arrival>[]): void {
    for (const { kind, stranger } of commands) {
      if (this.#connections.isStopping) stranger.drop()
      else if (kind === "admit") stranger.admit()
      else this.#crowdOut(stranger)
    }
  }

  #crowdOut(stranger: Arrival): void {
    const peer = this.#unproven.get(stranger)
    if (peer !== undefined) return peer.close("crowded-out")
    stranger.drop()
    this.#turnedAway(written(stranger.remote), "crowded-out", "")
  }

  #turnedAway(remote: string, because: DisconnectReason, detail: string): void {
    const { events, logger, clock } = this.#options
    events.publish(new ConnectionRefused(remote, because, detail))
    const now = clock.monotonicMs()
    if (now >= this.#quietUntil) this.#refusals = 0
    this.#refusals += 1
    if (this.#refusals === 1) this.#quietUntil = now + 60_000
    if (this.#refusals > LOGGED_A_MINUTE) return
    logger.log(because === "duplicate" ? "debug" : "warn", "a connection was refused", {
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
 * Arrivals that may be unproven at one time, and those that may wait for that: as many as the nodes of a
 * large cluster that connect at once.
 */
const MOST_STRANGERS = 512
const LOGGED_A_MINUTE = 10

function written({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
}
