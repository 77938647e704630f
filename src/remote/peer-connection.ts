import type { NodeId } from "../address/node-id.js"
import type { Connection } from "../ports/network.js"
import type { InputBytes } from "../serialization/input-bytes.js"
import type { DisconnectReason } from "./disconnect-reason.js"
import { FrameConnection, type FrameHandler, type FrameTools } from "./frame-connection.js"
import { Handshake, type HandshakeStep, type HandshakeTerms, type Outgoing } from "./handshake.js"
import type { MessageCodec } from "./message-codec.js"
import type { RemoteNode } from "./remote-node.js"
import { Session } from "./session.js"

/**
 * One connection from its first byte to its last: first the handshake is asked about every frame, then the
 * session.
 */
export class PeerConnection implements FrameHandler {
  /** Resolves when the last of it is gone. */
  readonly gone: Promise<void>
  readonly #frames: FrameConnection
  readonly #greeting: Greeting
  readonly #role: Role
  readonly #handshake: Handshake
  readonly #hello: Outgoing | undefined
  #node: RemoteNode | undefined
  #session: Session | undefined
  #isAbandoned = false

  constructor(connection: Connection, tools: FrameTools, greeting: Greeting, role: Role) {
    this.#greeting = greeting
    this.#role = role
    if (role.kind === "dialler") {
      const { handshake, hello } = Handshake.dialler(greeting.terms, role.authority)
      this.#handshake = handshake
      this.#hello = hello
    } else this.#handshake = Handshake.listener(greeting.terms)
    this.#frames = new FrameConnection(connection, tools, this)
    this.gone = this.#frames.gone.then(() => role.over())
  }

  get remote(): string {
    return this.#frames.remote
  }

  /** Who the peer says it is, proven or not. */
  get claimed(): NodeId | undefined {
    return this.#handshake.claimed
  }

  start(): void {
    this.#frames.start()
    if (this.#hello !== undefined) this.#send(this.#hello)
  }

  close(because: DisconnectReason): void {
    this.#frames.close(because)
  }

  /** Nobody wants it any more, and nobody is to be told. */
  abandon(): void {
    if (this.#session !== undefined) return
    this.#isAbandoned = true
    this.#frames.close("replaced")
  }

  frame(kind: number, input: InputBytes): void {
    if (this.#session !== undefined) this.#session.receive(kind, input)
    else this.#step(this.#handshake.receive(kind, input))
  }

  drained(): void {
    if (this.#session !== undefined) this.#node?.drained(this.#session)
  }

  closed(because: DisconnectReason, detail: string): void {
    this.#handshake.ended()
    if (this.#isAbandoned) return
    if (this.#session === undefined) this.#role.refused(because, detail, "us")
    else this.#node?.dropped(this.#session, because, detail)
  }

  #step(step: HandshakeStep): void {
    if (step.kind === "refused") {
      this.#isAbandoned = true
      if (step.send !== undefined) this.#send(step.send)
      this.#frames.finish(step.because)
      this.#role.refused(step.because, step.detail, step.by)
      return
    }
    if (step.kind === "over") return
    if (step.kind === "confirm") {
      step.connection.probe((isAlive) => this.#step(this.#handshake.confirmed(isAlive)))
      return
    }
    if (step.send !== undefined) this.#send(step.send)
    if (step.kind === "wait") return
    // To say READY may have shown that the connection is gone.
    if (!this.#frames.isOpen) return
    const { peer } = step
    this.#role.settled()
    this.#frames.established()
    const node = this.#role.owner(peer.node)
    this.#node = node
    this.#session = new Session(peer, this.#frames, this.#greeting.codec, node)
    node.established(this.#session)
  }

  #send({ kind, fields }: Outgoing): void {
    this.#frames.writer.frame(kind, fields)
    this.#frames.flush()
  }
}

/** What is said to everybody. */
interface Greeting {
  readonly codec: MessageCodec
  readonly terms: HandshakeTerms
}

export type Role = (
  | { readonly kind: "listener" }
  | { readonly kind: "dialler"; readonly authority: string }
) & {
  owner(node: NodeId): RemoteNode
  /** The handshake came to nothing. */
  refused(because: DisconnectReason, detail: string, by: "us" | "peer"): void
  /** The peer has proven who it is. */
  settled(): void
  /** The connection is gone. */
  over(): void
}
