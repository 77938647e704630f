import type { Address } from "../address/address.js"
import type { NodeId } from "../address/node-id.js"
import type { Digest } from "../ports/digest.js"
import type { Connection, TlsOptions } from "../ports/network.js"
import type { Random } from "../ports/random.js"
import type { FrameTools } from "./frame-connection.js"
import type { HandshakeTerms } from "./handshake.js"
import type { MessageCodec } from "./message-codec.js"
import { PeerConnection, type Role } from "./peer-connection.js"
import type { RemoteNode } from "./remote-node.js"
import type { SharedKeys } from "./shared-keys.js"

/** All connections of this node, dialled and accepted, and what it says of itself in their handshakes. */
export class PeerConnections {
  /** This life of this node. */
  self: NodeId
  /** From then on every handshake is refused. */
  isStopping = false
  readonly #options: PeerConnectionsOptions
  readonly #all = new Set<PeerConnection>()

  constructor(options: PeerConnectionsOptions) {
    this.self = options.self
    this.#options = options
  }

  /** Resolves when the last of those that are there now is gone. */
  async gone(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => connection.gone))
  }

  /** Makes one of a transport connection; its `start` begins the handshake. `greeted` is for a listener. */
  open(connection: Connection, role: Role, greeted?: HandshakeTerms["greeted"]): PeerConnection {
    const { frameTools, codec } = this.#options
    const over = () => {
      this.#all.delete(made)
      role.over()
    }
    const greeting = { codec, terms: this.#terms(connection, greeted) }
    const made: PeerConnection = new PeerConnection(connection, frameTools, greeting, { ...role, over })
    this.#all.add(made)
    return made
  }

  #terms({ bears }: Connection, greeted: HandshakeTerms["greeted"] = () => true): HandshakeTerms {
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
        return nodes.get(peer.address)?.judge(peer)
      },
      greeted,
      connectionWith: (peer) => nodes.get(peer.address)?.session,
      bears:
        bears === undefined || tls?.mutual !== true ? undefined : (host) => bears(tls.serverName ?? host),
    }
  }
}

interface PeerConnectionsOptions {
  /** Who this node is at first. */
  readonly self: NodeId
  readonly address: Address
  readonly namespace: string
  readonly store: string
  readonly keys: SharedKeys
  readonly tls: TlsOptions | undefined
  readonly maxMessageBytes: number
  readonly nodes: ReadonlyMap<string, RemoteNode>
  readonly codec: MessageCodec
  readonly frameTools: FrameTools
  readonly digest: Digest
  readonly random: Random
}
