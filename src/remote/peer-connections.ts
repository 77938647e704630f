import type { Address } from "../address/address.js"
import type { NodeId } from "../address/node-id.js"
import type { Digest } from "../ports/digest.js"
import type { Connection, TlsOptions } from "../ports/network.js"
import type { Random } from "../ports/random.js"
import type { FrameDependencies } from "./frame-connection.js"
import type { HandshakeTerms } from "./handshake.js"
import type { MemberLink } from "./member-link.js"
import type { MessageCodec } from "./message-codec.js"
import { PeerConnection, type Role } from "./peer-connection.js"
import type { RemoteNode } from "./remote-node.js"
import type { SharedKeys } from "./shared-keys.js"

/** All connections of this node, dialled and accepted, and the terms of their handshakes. */
export class PeerConnections {
  /** The current incarnation of this node. */
  self: NodeId
  /** When set, every handshake is refused. */
  isStopping = false
  /** Undefined without membership. */
  link: MemberLink | undefined
  readonly #options: PeerConnectionsOptions
  readonly #all = new Set<PeerConnection>()

  constructor(options: PeerConnectionsOptions) {
    this.self = options.self
    this.#options = options
  }

  /** Resolves when all current connections have closed. */
  async gone(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => connection.gone))
  }

  /** Wraps a transport connection; `start` begins the handshake. `admitHello` is used by listeners. */
  open(connection: Connection, role: Role, admitHello?: HandshakeTerms["admitHello"]): PeerConnection {
    const { frameDependencies, codec } = this.#options
    const closed = () => {
      this.#all.delete(made)
      role.closed()
    }
    const context = { codec, terms: this.#terms(connection, admitHello) }
    const made: PeerConnection = new PeerConnection(connection, frameDependencies, context, {
      ...role,
      closed,
    })
    this.#all.add(made)
    return made
  }

  #terms({ bears }: Connection, admitHello: HandshakeTerms["admitHello"] = () => true): HandshakeTerms {
    const { address, namespace, store, keys, tls, maxMessageBytes, nodes, codec, digest, random } =
      this.#options
    return {
      self: this.self,
      namespace,
      system: address.system,
      codec: codec.name,
      store,
      maxMessageBytes,
      keys: keys.keys,
      digest,
      random,
      judge: (peer) => {
        if (this.isStopping) return "stopping"
        if (peer.equals(this.self)) return "self"
        if (this.link?.isRemoved(peer) === true) return "removed"
        return nodes.get(peer.address)?.judge(peer)
      },
      admitHello,
      connectionWith: (peer) => nodes.get(peer.address)?.session,
      bears:
        bears === undefined || tls?.mutual !== true ? undefined : (host) => bears(tls.serverName ?? host),
    }
  }
}

interface PeerConnectionsOptions {
  /** The first incarnation of this node. */
  readonly self: NodeId
  readonly address: Address
  readonly namespace: string
  readonly store: string
  readonly keys: SharedKeys
  readonly tls: TlsOptions | undefined
  readonly maxMessageBytes: number
  readonly nodes: ReadonlyMap<string, RemoteNode>
  readonly codec: MessageCodec
  readonly frameDependencies: FrameDependencies
  readonly digest: Digest
  readonly random: Random
}
