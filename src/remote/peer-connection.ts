import type { NodeId } from "../address/node-id.js"
import type { Connection } from "../ports/network.js"
import type { InputBytes } from "../serialization/input-bytes.js"
import type { DisconnectReason } from "./disconnect-reason.js"
import { FrameConnection, type FrameDependencies, type FrameHandler } from "./frame-connection.js"
import {
  Handshake,
  type HandshakeStep,
  type HandshakeTerms,
  type Outgoing,
  type RefusedBy,
} from "./handshake.js"
import type { MessageCodec } from "./message-codec.js"
import type { RemoteNode } from "./remote-node.js"
import { Session } from "./session.js"

/**
 * One connection from its first byte to its last. Frames go to the handshake first, then to the session.
 */
export class PeerConnection implements FrameHandler {
  /** Resolves when the transport has closed. */
  readonly gone: Promise<void>
  readonly #frames: FrameConnection
  readonly #context: ConnectionContext
  readonly #role: Role
  readonly #handshake: Handshake
  readonly #hello: Outgoing | undefined
  #node: RemoteNode | undefined
  #session: Session | undefined
  #isAbandoned = false

  constructor(
    connection: Connection,
    dependencies: FrameDependencies,
    context: ConnectionContext,
    role: Role,
  ) {
    this.#context = context
    this.#role = role
    if (role.kind === "dialler") {
      const { handshake, hello } = Handshake.dialler(context.terms, role.authority)
      this.#handshake = handshake
      this.#hello = hello
    } else this.#handshake = Handshake.listener(context.terms)
    this.#frames = new FrameConnection(connection, dependencies, this)
    this.gone = this.#frames.gone.then(() => role.closed())
  }

  get remote(): string {
    return this.#frames.remote
  }

  /** The id that the peer claims, proven or not. */
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

  /** Closes a connection that is no longer needed, without a report; has no effect once established. */
  abandon(): void {
    if (this.#session !== undefined) return
    this.#isAbandoned = true
    this.#frames.close("replaced")
  }

  receive(kind: number, input: InputBytes): void {
    this.#step(this.#handshake.receive(kind, input))
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
    // Sending READY may have closed the connection.
    if (!this.#frames.isOpen) return
    const { peer } = step
    this.#role.proven()
    this.#frames.established()
    const node = this.#role.owner(peer.node)
    this.#node = node
    this.#session = new Session(peer, this.#frames, this.#context.codec, node)
    this.#frames.receiver = this.#session
    node.established(this.#session)
  }

  #send({ kind, fields }: Outgoing): void {
    this.#frames.writer.frame(kind, fields)
    this.#frames.flush()
  }
}

/** What the connection uses for its handshake and its session. */
interface ConnectionContext {
  readonly codec: MessageCodec
  readonly terms: HandshakeTerms
}

export type Role = (
  | { readonly kind: "listener" }
  | { readonly kind: "dialler"; readonly authority: string }
) & {
  owner(node: NodeId): RemoteNode
  /** Called when the handshake has failed. */
  refused(because: DisconnectReason, detail: string, by: RefusedBy): void
  /** Called when the peer has proven its identity. */
  proven(): void
  /** Called when the transport has closed. */
  closed(): void
}
