import { scryptSync } from "node:crypto"
import { connect, type Socket } from "node:net"
import { NodeId } from "../../../src/address/node-id.js"
import { BatchReader } from "../../../src/remote/batch-reader.js"
import { ENVELOPE, PING, READY } from "../../../src/remote/frames.js"
import { Handshake, type HandshakeTerms } from "../../../src/remote/handshake.js"
import { openKey } from "../../../src/remote/shared-keys.js"
import { nodeDigest, SCRYPT } from "../../../src/runtime/node-digest.js"
import { nodeRandom } from "../../../src/runtime/node-random.js"
import { Envelope, readEnvelope } from "../../../src/serialization/envelope.js"
import { InputBytes } from "../../../src/serialization/input-bytes.js"
import { notice, until } from "./until.js"
import { batch, decoded, type Frame, frame } from "./wire.js"

/** The raw peer of a node: reads what the node sends, and sends arbitrary bytes. */
export class RawPeer {
  readonly socket: Socket
  /** The frames that the node has sent, except PING. */
  readonly frames: Frame[] = []
  /** The bytes that this side has sent, in order. */
  readonly sent: Buffer[] = []
  /** Whether the node has closed the connection. */
  isClosed = false
  readonly #reader = new BatchReader(nodeDigest, 2 ** 31)

  constructor(socket: Socket) {
    this.socket = socket
    // A node that refuses a peer may reset the connection.
    socket.on("error", () => {})
    const over = () => {
      this.isClosed = true
      notice()
    }
    socket.on("connect", notice)
    socket.on("end", over)
    socket.on("close", over)
    socket.on("data", (chunk: Buffer) => {
      this.#reader.push(chunk, (bytes, start, end) => this.#take(bytes, start, end))
      notice()
    })
  }

  /** Opens a connection without sending anything. */
  static async connect(to: Authority): Promise<RawPeer> {
    const at = to.authority.lastIndexOf(":")
    const socket = connect({
      host: to.authority.slice(0, at),
      port: Number(to.authority.slice(at + 1)),
      noDelay: true,
      allowHalfOpen: true,
    })
    const peer = new RawPeer(socket)
    await until("a socket is connected", () => !socket.connecting || peer.isClosed)
    return peer
  }

  /** Opens a connection and completes its handshake. */
  static async admitted(to: Authority, terms: Partial<HandshakeTerms> = {}): Promise<RawPeer> {
    const peer = await RawPeer.connect(to)
    await peer.shakeHands(to, terms)
    return peer
  }

  /** Performs the dialler's part of the handshake, as a node does. */
  async shakeHands(to: Authority, terms: Partial<HandshakeTerms> = {}): Promise<void> {
    const { handshake, hello } = Handshake.dialler(handshakeTerms(to, terms), to.authority)
    this.send(frame(hello.kind, hello.fields ?? NOTHING))
    for (let read = 0; ; read += 1) {
      await until("the handshake goes on", () => this.frames.length > read || this.isClosed)
      const said = this.frames[read]
      if (said === undefined) throw new Error("the node closed the connection during the handshake")
      const step = handshake.receive(said.kind, new InputBytes(said.fields, 0, said.fields.length))
      if (step.send !== undefined) this.send(frame(step.send.kind, step.send.fields ?? NOTHING))
      if (step.kind === "refused") throw new Error(`the handshake failed: ${step.because} ${step.detail}`)
      if (said.kind === READY) return
    }
  }

  send(...frames: readonly Frame[]): void {
    this.write(batch(...frames))
  }

  write(bytes: Buffer): void {
    this.sent.push(bytes)
    this.socket.write(bytes, notice)
  }

  framesOf(kind: number): Frame[] {
    return this.frames.filter((said) => said.kind === kind)
  }

  /** The received messages, with their envelopes. */
  get messages(): Message[] {
    return this.framesOf(ENVELOPE).map(({ fields }) => {
      const envelope = new Envelope()
      const input = new InputBytes(fields, 0, fields.length)
      readEnvelope(input, envelope)
      return { envelope, message: decoded(fields.subarray(input.at)) }
    })
  }

  /** Resolves when the node has closed the connection. */
  async closed(): Promise<void> {
    await until("the node closes the connection", () => this.isClosed)
  }

  destroy(): void {
    this.socket.destroy()
  }

  #take(bytes: Buffer, start: number, end: number): boolean {
    for (let at = start; at < end; ) {
      const next = at + 4 + bytes.readUInt32LE(at)
      const kind = bytes[at + 4] as number
      if (kind !== PING) this.frames.push({ kind, fields: Buffer.from(bytes.subarray(at + 5, next)) })
      at = next
    }
    return true
  }
}

export interface Message {
  readonly envelope: Envelope
  readonly message: unknown
}

/** The node under attack, and the terms that it accepts. */
export interface Authority {
  readonly authority: string
  readonly namespace: string
  readonly secret: string | readonly string[] | undefined
}

/** Derives the keys of secrets as a node does, synchronously. */
export function keysOf({ namespace, secret }: Omit<Authority, "authority">): Uint8Array[] {
  if (secret === undefined) return [openKey(namespace, nodeDigest)]
  return (typeof secret === "string" ? [secret] : secret).map((one) => {
    const name = `${namespace} ${one}`
    const key = stretched.get(name) ?? scryptSync(one, `troupe ${namespace}`, 32, SCRYPT)
    stretched.set(name, key)
    return key
  })
}

const stretched = new Map<string, Uint8Array>()

export function handshakeTerms(to: Authority, terms: Partial<HandshakeTerms> = {}): HandshakeTerms {
  return {
    self: freshNode(),
    namespace: to.namespace,
    system: to.namespace,
    codec: "troupe-binary-1",
    store: "",
    maxMessageBytes: 1024 * 1024,
    keys: keysOf(to),
    digest: nodeDigest,
    random: nodeRandom,
    judge: () => undefined,
    connectionWith: () => undefined,
    ...terms,
  }
}

/**
 * Returns a node id that no node has. Its address has no listener, and is unique within this process, since two peers with one
 * address would interfere with each other.
 */
export function freshNode(host = "127.0.0.2"): NodeId {
  addresses += 1
  return NodeId.fresh(host, 1 + (addresses % 65_535), nodeRandom)
}

let addresses = 0

const NOTHING = new Uint8Array()
