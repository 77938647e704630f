import { type AddressInfo, createServer, type Server } from "node:net"
import { NodeId } from "../../../src/address/node-id.js"
import { Handshake, type HandshakeTerms } from "../../../src/remote/handshake.js"
import { InputBytes } from "../../../src/serialization/input-bytes.js"
import { type Authority, freshNode, handshakeTerms, RawPeer } from "./raw-peer.js"
import { recorded, until } from "./until.js"
import { frame } from "./wire.js"

/** A raw peer that listens at an address which a node dials. */
export class RawListener {
  readonly peers = recorded<RawPeer>()
  readonly #server: Server

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.peers.push(new RawPeer(socket))
    })
  }

  static async start(): Promise<RawListener> {
    const listener = new RawListener()
    await new Promise<void>((resolve) => listener.#server.listen(0, "127.0.0.1", resolve))
    return listener
  }

  get authority(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The id of a node that claims this address. */
  node(): NodeId {
    return NodeId.of("127.0.0.1", (this.#server.address() as AddressInfo).port, freshNode().incarnation)
  }

  /** Resolves with the next connection of a node. */
  async dialled(): Promise<RawPeer> {
    await until("the node dials and says hello", () => (this.peers[0]?.frames.length ?? 0) > 0)
    return this.peers[0] as RawPeer
  }

  /** Performs the listener's part of the handshake, as a node does. */
  async shakeHands(peer: RawPeer, dialler: Authority, terms: Partial<HandshakeTerms> = {}): Promise<void> {
    const handshake = Handshake.listener(handshakeTerms(dialler, { self: this.node(), ...terms }))
    for (let read = 0; ; read += 1) {
      await until("the handshake goes on", () => peer.frames.length > read || peer.isClosed)
      const said = peer.frames[read]
      if (said === undefined) return
      const step = handshake.receive(said.kind, new InputBytes(said.fields, 0, said.fields.length))
      if (step.send !== undefined) peer.send(frame(step.send.kind, step.send.fields ?? new Uint8Array()))
      if (step.kind !== "wait") return
    }
  }

  async stop(): Promise<void> {
    for (const peer of this.peers) peer.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
