import { NetworkError } from "../errors/network-error.js"
import type { Logger } from "../ports/logger.js"
import type { Connection, Endpoint, Network, TlsOptions } from "../ports/network.js"
import { DialSlots } from "./dial-slots.js"
import { advice } from "./disconnect-reason.js"
import type { PeerConnection } from "./peer-connection.js"
import type { PeerConnections } from "./peer-connections.js"
import type { RemoteNode } from "./remote-node.js"

/** Dials other nodes, with a limit of concurrent dials, and reports the outcome to each `RemoteNode`. */
export class Dialler {
  readonly #options: DiallerOptions
  readonly #connections: PeerConnections
  readonly #slots = new DialSlots(MOST_DIALS)

  constructor(options: DiallerOptions, connections: PeerConnections) {
    this.#options = options
    this.#connections = connections
  }

  /** Begins to connect. The returned function cancels the dial; after that nothing is reported. */
  dial(node: RemoteNode): () => void {
    const { network, tls, timeoutMs, logger } = this.#options
    const abort = new AbortController()
    let peer: PeerConnection | undefined
    let free = () => {}
    const begin = (connection: Connection) => {
      if (abort.signal.aborted) return connection.destroy()
      const made: PeerConnection = this.#connections.open(connection, {
        kind: "dialler",
        authority: node.authority,
        owner: () => node,
        refused: (because, detail, by) => {
          free()
          if (abort.signal.aborted) return
          if (because === "wrong-secret" && by === "us")
            node.dialRefuted(made.claimed, `${detail}; ${advice[because]}`)
          else node.dialFailed(because, by)
        },
        closed: () => free(),
        proven: () => free(),
      })
      peer = made
      node.dialAnswered()
      made.start()
    }
    const fail = (error: unknown) => {
      free()
      if (abort.signal.aborted) return
      logger.log("debug", "cannot dial a node", { authority: node.authority, error })
      const code = error instanceof NetworkError ? error.code : undefined
      node.dialFailed(code === "Untrusted" ? "untrusted" : "unreachable", code === "Refused" ? "host" : "us")
    }
    free = this.#slots.take(() => {
      void network
        .connect(endpointOf(node.authority), { signal: abort.signal, tls, timeoutMs })
        .then(begin, fail)
    })
    return () => {
      abort.abort()
      free()
      peer?.abandon()
    }
  }
}

interface DiallerOptions {
  readonly network: Network
  readonly tls: TlsOptions | undefined
  readonly timeoutMs: number
  readonly logger: Logger
}

const MOST_DIALS = 256

/** Parses `host:port`, where an IPv6 host is in brackets. */
function endpointOf(authority: string): Endpoint {
  const colon = authority.lastIndexOf(":")
  const host = authority.slice(0, colon)
  return {
    host: host.startsWith("[") ? host.slice(1, -1) : host,
    port: Number(authority.slice(colon + 1)),
  }
}
