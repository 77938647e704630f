import { ActorPathError } from "../address/actor-path-error.js"
import { Address } from "../address/address.js"
import { NodeId } from "../address/node-id.js"
import { NodeIdError } from "../address/node-id-error.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { Digest } from "../ports/digest.js"
import type { Random } from "../ports/random.js"
import type { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { type HandshakeRefusal, refusalCodes, refusalOf } from "./disconnect-reason.js"
import { HELLO, PROOF, READY, REFUSED, WELCOME } from "./frames.js"

/**
 * How two nodes come to believe each other: a decision over the frames of one side. No other frame is looked at before it is
 * over.
 *
 *     dialler                                             listener
 *       HELLO  version, namespace, system, who I am, whom I
 *              dialled, codec, store, limit, nonce  ------>
 *                                 WELCOME  who I am, system, limit,
 *              <------                     nonce, proof of the secret
 *       PROOF  of the secret                        ------>
 *              <------                            READY
 *
 * A proof is an HMAC, keyed with the secret, over both nonces and everything both have said. The secret never travels; what was
 * recorded is worthless against a fresh nonce; and each role has its own label, so that nobody's proof can be sent back to them. The
 * listener proves itself first: a dialler that finds another secret says no more. READY is there so that the dialler calls
 * nobody connected who has not agreed to it.
 *
 * A node that has lost its connection makes a new one, which takes the place of the old. Two nodes that dial each other at one time
 * may look the same to a listener; it can tell by its connection having been made after the HELLO, and refuses a duplicate.
 *
 * Either side may say REFUSED with a reason instead, and closes. The reason of a peer that has proven nothing is good for the log
 * and for nothing else.
 *
 * The proof says who is at the other end, and protects nothing that is sent afterwards. Where the network is not to be trusted,
 * that is for TLS to do; a home-made cipher would be worse than none.
 */
export class Handshake {
  readonly #terms: HandshakeTerms
  /** The authority that was dialled; undefined for a listener. */
  readonly #dialled: string | undefined
  #state: "begin" | "welcome" | "proof" | "ready" | "over"
  #peer: Peer | undefined
  /** A listener's connection with that node at the time of its HELLO. */
  #before: unknown
  /** All that both have said and that a proof vouches for. */
  #transcript: Buffer = Buffer.alloc(0)

  private constructor(terms: HandshakeTerms, dialled: string | undefined) {
    this.#terms = terms
    this.#dialled = dialled
    this.#state = dialled === undefined ? "begin" : "welcome"
  }

  static listener(terms: HandshakeTerms): Handshake {
    return new Handshake(terms, undefined)
  }

  static dialler(
    terms: HandshakeTerms,
    dialled: string,
  ): { readonly handshake: Handshake; readonly hello: Outgoing } {
    const handshake = new Handshake(terms, dialled)
    const { self, namespace, system, codec, store, maxMessageBytes, secret, random } = terms
    const out = new OutputBuffer(512)
    for (const byte of MAGIC) out.u8(byte)
    out.u8(VERSION)
    out.text(namespace)
    out.text(system)
    out.text(self.toString())
    out.text(dialled)
    out.text(codec)
    out.text(store)
    out.varint(maxMessageBytes)
    out.u8(secret === undefined ? 0 : 1)
    out.raw(random.bytes(NONCE_BYTES))
    const hello = out.bytes.subarray(0, out.at)
    handshake.#transcript = hello
    return { handshake, hello: { kind: HELLO, fields: hello } }
  }

  /** Who the other says it is; proven only once this is established. */
  get peer(): Peer | undefined {
    return this.#peer
  }

  receive(kind: number, input: InputBytes): HandshakeStep {
    try {
      return this.#receive(kind, input)
    } catch (error) {
      if (error instanceof MalformedBytesError || error instanceof NodeIdError)
        return this.#refuse("malformed", error.message)
      throw error
    }
  }

  #receive(kind: number, input: InputBytes): HandshakeStep {
    if (kind === REFUSED && this.#state !== "over") {
      const because = refusalOf(input.u8()) ?? "malformed"
      endOf(input)
      this.#state = "over"
      return { kind: "refused", by: "peer", because, detail: "" }
    }
    if (kind === HELLO && this.#state === "begin") return this.#hello(input)
    if (kind === WELCOME && this.#state === "welcome") return this.#welcome(input)
    if (kind === PROOF && this.#state === "proof") return this.#proof(input)
    if (kind === READY && this.#state === "ready") {
      endOf(input)
      this.#state = "over"
      return { kind: "established", peer: this.#peer as Peer }
    }
    return this.#refuse("malformed", `frame ${kind} came where the handshake has no place for it`)
  }

  #hello(input: InputBytes): HandshakeStep {
    const { self, namespace, codec, store, secret, random, judge } = this.#terms
    const start = input.at
    for (const byte of MAGIC) if (input.u8() !== byte) return this.#refuse("malformed", "no node says this")
    const version = input.u8()
    if (version !== VERSION) {
      return this.#refuse("wrong-version", `it speaks version ${version}, this node ${VERSION}`)
    }
    const theirNamespace = input.text(MAX_TEXT)
    const system = input.text(MAX_TEXT)
    const node = NodeId.parse(input.text(MAX_TEXT))
    const dialled = input.text(MAX_TEXT)
    const theirCodec = input.text(MAX_TEXT)
    const theirStore = input.text(MAX_TEXT)
    const maxMessageBytes = input.varint()
    const hasSecret = input.u8() === 1
    input.skip(NONCE_BYTES)
    endOf(input)
    this.#peer = { node, address: addressOf(system, node), maxMessageBytes }
    if (theirNamespace !== namespace) return this.#refuse("wrong-namespace", "")
    if (dialled !== self.address) {
      return this.#refuse("wrong-address", `it dialled another address than ${self.address}`)
    }
    if (theirCodec !== codec) return this.#refuse("wrong-codec", "")
    if (theirStore !== store) return this.#refuse("wrong-store", "")
    if (hasSecret !== (secret !== undefined)) {
      return this.#refuse("wrong-secret", hasSecret ? "this node has no secret" : "it has no secret")
    }
    const refusal = judge(node)
    if (refusal !== undefined) return this.#refuse(refusal, "")
    this.#before = this.#terms.connectionWith(node)
    const out = new OutputBuffer(512)
    out.u8(VERSION)
    out.text(self.toString())
    out.text(this.#terms.system)
    out.varint(this.#terms.maxMessageBytes)
    out.raw(random.bytes(NONCE_BYTES))
    this.#transcript = Buffer.concat([input.bytes.subarray(start, input.at), out.bytes.subarray(0, out.at)])
    out.raw(this.#proofOf("listener"))
    this.#state = "proof"
    return { kind: "wait", send: { kind: WELCOME, fields: out.bytes.subarray(0, out.at) } }
  }

  #welcome(input: InputBytes): HandshakeStep {
    const { self, digest, judge } = this.#terms
    const start = input.at
    const version = input.u8()
    if (version !== VERSION) return this.#refuse("wrong-version", `it speaks version ${version}`)
    const node = NodeId.parse(input.text(MAX_TEXT))
    const system = input.text(MAX_TEXT)
    const maxMessageBytes = input.varint()
    input.skip(NONCE_BYTES)
    const said = input.bytes.subarray(start, input.at)
    this.#transcript = Buffer.concat([this.#transcript, said])
    const proof = input.raw(PROOF_BYTES)
    endOf(input)
    this.#peer = { node, address: addressOf(system, node), maxMessageBytes }
    if (node.equals(self)) return this.#refuse("self", "")
    if (node.address !== this.#dialled) return this.#refuse("wrong-address", `it goes by ${node.address}`)
    if (!digest.equal(proof, this.#proofOf("listener"))) {
      return this.#refuse("wrong-secret", "its proof of the secret is wrong")
    }
    const refusal = judge(node)
    if (refusal !== undefined && refusal !== "duplicate") return this.#refuse(refusal, "")
    this.#state = "ready"
    return { kind: "wait", send: { kind: PROOF, fields: this.#proofOf("dialler") } }
  }

  #proof(input: InputBytes): HandshakeStep {
    const proof = input.raw(PROOF_BYTES)
    endOf(input)
    if (!this.#terms.digest.equal(proof, this.#proofOf("dialler"))) {
      return this.#refuse("wrong-secret", "its proof of the secret is wrong")
    }
    const peer = this.#peer as Peer
    const refusal = this.#terms.judge(peer.node)
    if (refusal !== undefined) return this.#refuse(refusal, "")
    // One that was made since is newer than this one's HELLO, and the peer has agreed to it.
    const present = this.#terms.connectionWith(peer.node)
    if (present !== undefined && present !== this.#before) return this.#refuse("duplicate", "")
    this.#state = "over"
    return { kind: "established", peer, send: { kind: READY, fields: undefined } }
  }

  /** Without a secret it is the same for everybody, and proves only that both mean the same conversation. */
  #proofOf(role: "dialler" | "listener"): Uint8Array {
    const { digest, secret } = this.#terms
    const label = Buffer.from(`troupe ${role} ${VERSION}\0`, "latin1")
    return digest.hmacSha256(secret ?? NO_SECRET, Buffer.concat([label, this.#transcript]))
  }

  #refuse(because: HandshakeRefusal, detail: string): HandshakeStep {
    this.#state = "over"
    const fields = Uint8Array.of(refusalCodes[because])
    return { kind: "refused", by: "us", because, detail, send: { kind: REFUSED, fields } }
  }
}

export interface HandshakeTerms {
  readonly self: NodeId
  readonly namespace: string
  /** The system's name in the paths of its actors. */
  readonly system: string
  /** The codec's name. */
  readonly codec: string
  /** The store's identity; empty without one. */
  readonly store: string
  /** The largest message that this node takes. */
  readonly maxMessageBytes: number
  readonly secret: Uint8Array | undefined
  readonly digest: Digest
  readonly random: Random
  /** Whether to talk to this node at all. */
  readonly judge: (peer: NodeId) => HandshakeRefusal | undefined
  /** Something that stands for the connection that there is with the address of this node; undefined without one. */
  readonly connectionWith: (peer: NodeId) => unknown
}

export interface Peer {
  readonly node: NodeId
  /** What the paths of its actors begin with. */
  readonly address: Address
  readonly maxMessageBytes: number
}

/** A frame to send. */
export interface Outgoing {
  readonly kind: number
  readonly fields: Uint8Array | undefined
}

export type HandshakeStep =
  | { readonly kind: "wait"; readonly send: Outgoing }
  | { readonly kind: "established"; readonly peer: Peer; readonly send?: Outgoing }
  | {
      readonly kind: "refused"
      readonly by: "us" | "peer"
      readonly because: HandshakeRefusal
      readonly detail: string
      readonly send?: Outgoing
    }

const MAGIC = [0x54, 0x52, 0x50, 0x45] as const
export const VERSION = 1
const NONCE_BYTES = 32
const PROOF_BYTES = 32
const MAX_TEXT = 1_024
const NO_SECRET = new Uint8Array()

function endOf(input: InputBytes): void {
  if (input.left > 0) throw new MalformedBytesError("a frame of the handshake is longer than it should be")
}

function addressOf(system: string, { host, port }: NodeId): Address {
  const address = Address.of({ scheme: "troupe.tcp", system, host, port })
  if (address instanceof ActorPathError) throw new MalformedBytesError(address.message)
  return address
}
