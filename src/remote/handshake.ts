import { ActorPathError } from "../address/actor-path-error.js"
import { Address } from "../address/address.js"
import { NodeId } from "../address/node-id.js"
import { NodeIdError } from "../address/node-id-error.js"
import { assert } from "../errors/assert.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { Digest } from "../ports/digest.js"
import type { Random } from "../ports/random.js"
import type { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { type HandshakeProblem, type HandshakeRefusal, refusalCodes, refusalOf } from "./disconnect-reason.js"
import { HELLO, PROOF, PROTOCOL_VERSION, READY, REFUSED, WELCOME } from "./frames.js"
import { commonKey, helloTag, labelledHmac, secretProblem } from "./handshake-proofs.js"

/**
 * How two nodes authenticate each other: a decision over the frames of one side. No other frame is handled
 * before the handshake has ended.
 *
 *     dialler                                             listener
 *       HELLO  version, own id, dialled authority,
 *              nonce, a tag for each own key        ------>
 *                                 WELCOME  index of the key, own id, system, codec,
 *              <------                     limit, nonce, proof
 *       PROOF  system, codec, store, limit, proof   ------>
 *              <------                            READY
 *
 * All HMACs are keyed with stretched secrets (`shared-keys.ts`), which are never sent. A tag is an HMAC
 * over HELLO, by which the listener finds a common key: each side may have two while the secret is being
 * rotated. A peer without a key gets no reply that depends on a secret. An attacker can replay a recorded
 * tag, though not while the first connection with it is unproven, so a tag proves nothing. The proofs do:
 * they are HMACs over both nonces and everything both sides have sent. Each role has its own label, so that
 * a proof cannot be reflected to its sender. The listener proves its identity first, and a dialler that
 * finds another secret sends nothing more. The store's identity is not sent either; PROOF has an HMAC of
 * it. READY ensures that the dialler considers itself connected only to a listener that has accepted it.
 *
 * A node that has lost its connection opens a new one, which replaces the old one. Before that, the
 * listener probes the old connection: if the peer still answers there, two nodes advertise the same
 * address, and the new connection is refused as `occupied`. When two nodes dial each other at the same
 * time, the listener sees that its own connection was established after the HELLO, and refuses a duplicate
 * instead.
 *
 * Either side may send REFUSED instead, and close. Only a proven peer is sent the reason; all others are
 * sent `refused`, and the log of this node has the details. The reason that an unproven peer sends is used
 * for the log only.
 *
 * The proof authenticates the peer, and does not protect what is sent afterwards. On a network that is not
 * trusted, TLS must do that; a home-made cipher would be worse than none.
 */
export class Handshake {
  readonly #terms: HandshakeTerms
  /** The authority that was dialled; undefined for a listener. */
  readonly #dialled: string | undefined
  #state: "begin" | "welcome" | "proof" | "confirming" | "ready" | "over"
  #peer: Peer | undefined
  /** The id that the peer claims. */
  #claimed: NodeId | undefined
  #isProven = false
  /** The common key. */
  #key: Uint8Array = NO_KEY
  /** The authority that the peer has dialled, as it says. */
  #wanted = ""
  /** The listener's connection with that node when its HELLO arrived. */
  #before: LiveConnection | undefined
  /** Everything both sides have sent that the proofs cover. */
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
    const { self, keys, digest, random } = terms
    const out = new OutputBuffer(512)
    for (const byte of MAGIC) out.u8(byte)
    out.u8(PROTOCOL_VERSION)
    out.text(self.toString())
    out.text(dialled)
    out.raw(random.bytes(NONCE_BYTES))
    const tagged = Buffer.from(out.bytes.subarray(0, out.at))
    out.u8(keys.length)
    for (const key of keys) out.raw(helloTag(tagged, key, digest))
    const hello = out.bytes.subarray(0, out.at)
    handshake.#transcript = hello
    return { handshake, hello: { kind: HELLO, fields: hello } }
  }

  /** The id that the peer claims; proven once the handshake is established. */
  get claimed(): NodeId | undefined {
    return this.#claimed
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

  /** Continues after the probe of the connection that the new one would replace. */
  confirmed(isAlive: boolean): HandshakeStep {
    if (this.#state !== "confirming") return { kind: "over" }
    if (isAlive) return this.#refuse("occupied", "the connection it would replace is in use")
    return this.#admit(this.#peer as Peer)
  }

  /** Called when the connection has ended: a later result of the probe admits nobody on it. */
  ended(): void {
    this.#state = "over"
  }

  #receive(kind: number, input: InputBytes): HandshakeStep {
    if (kind === REFUSED && this.#state !== "over") {
      const because = refusalOf(input.u8()) ?? "malformed"
      endOf(input)
      this.#state = "over"
      return { kind: "refused", by: this.#isProven ? "peer" : "unproven", because, detail: "" }
    }
    if (kind === HELLO && this.#state === "begin") return this.#hello(input)
    if (kind === WELCOME && this.#state === "welcome") return this.#welcome(input)
    if (kind === PROOF && this.#state === "proof") return this.#proof(input)
    if (kind === READY && this.#state === "ready") {
      endOf(input)
      assert(this.#isProven && this.#peer !== undefined, "an unproven peer is established")
      this.#state = "over"
      return { kind: "established", peer: this.#peer }
    }
    return this.#refuse("malformed", `unexpected frame ${kind} in the handshake`)
  }

  #hello(input: InputBytes): HandshakeStep {
    const { self, namespace, keys, system, codec, maxMessageBytes, digest, random } = this.#terms
    const start = input.at
    for (const byte of MAGIC)
      if (input.u8() !== byte) return this.#refuse("malformed", "HELLO does not begin with the magic bytes")
    const version = input.u8()
    if (version !== PROTOCOL_VERSION) {
      return this.#refuse(
        "wrong-version",
        `the peer has protocol version ${version}, this node ${PROTOCOL_VERSION}`,
      )
    }
    const node = NodeId.parse(input.text(MAX_TEXT))
    this.#wanted = input.text(MAX_TEXT)
    const nonce = Buffer.from(input.raw(NONCE_BYTES))
    const tagged = Buffer.from(input.bytes.subarray(start, input.at))
    const tags = tagsIn(input)
    endOf(input)
    this.#claimed = node
    const common = commonKey(keys, tagged, tags, digest)
    if (common === undefined) {
      return this.#refuse("wrong-secret", secretProblem(namespace, keys, { tagged, tags }, digest))
    }
    if (this.#terms.admitHello?.(nonce.toString("latin1")) === false) {
      return this.#refuse("replayed", "its HELLO was sent on another connection that is unproven")
    }
    this.#key = common.key
    this.#before = this.#terms.connectionWith(node)
    const out = new OutputBuffer(512)
    out.u8(PROTOCOL_VERSION)
    out.u8(common.index)
    out.text(self.toString())
    out.text(system)
    out.text(codec)
    out.varint(maxMessageBytes)
    out.raw(random.bytes(NONCE_BYTES))
    this.#transcript = Buffer.concat([input.bytes.subarray(start, input.at), out.bytes.subarray(0, out.at)])
    out.raw(this.#hmacOf("listener"))
    this.#state = "proof"
    return { kind: "wait", send: { kind: WELCOME, fields: out.bytes.subarray(0, out.at) } }
  }

  #welcome(input: InputBytes): HandshakeStep {
    const { self, keys, digest, judge, codec, system, store, maxMessageBytes } = this.#terms
    const start = input.at
    const version = input.u8()
    if (version !== PROTOCOL_VERSION)
      return this.#refuse(
        "wrong-version",
        `the peer has protocol version ${version}, this node ${PROTOCOL_VERSION}`,
      )
    const key = keys[input.u8()]
    const node = NodeId.parse(input.text(MAX_TEXT))
    const theirSystem = input.text(MAX_TEXT)
    const theirCodec = input.text(MAX_TEXT)
    const limit = input.varint()
    input.skip(NONCE_BYTES)
    this.#transcript = Buffer.concat([this.#transcript, input.bytes.subarray(start, input.at)])
    const proof = input.raw(PROOF_BYTES)
    endOf(input)
    if (key === undefined) throw new MalformedBytesError("WELCOME names a key that HELLO has not offered")
    this.#key = key
    this.#claimed = node
    if (!digest.equal(proof, this.#hmacOf("listener"))) {
      return this.#refuse("wrong-secret", "its proof of the secret is wrong")
    }
    this.#isProven = true
    if (node.equals(self)) return this.#refuse("self", "")
    if (node.address !== this.#dialled) return this.#refuse("wrong-address", `it advertises ${node.address}`)
    const misfit = this.#misfit(node, theirCodec, limit)
    if (misfit !== undefined) return misfit
    const refusal = judge(node)
    if (refusal !== undefined && refusal !== "duplicate") return this.#refuse(refusal, "")
    const answerKey = this.#hmacOf("answers")
    this.#peer = { node, address: addressOf(theirSystem, node), maxMessageBytes: limit, answerKey }
    const out = new OutputBuffer(512)
    out.text(system)
    out.text(codec)
    out.raw(this.#hmacOf("store", Buffer.from(store)))
    out.varint(maxMessageBytes)
    this.#transcript = Buffer.concat([this.#transcript, out.bytes.subarray(0, out.at)])
    out.raw(this.#hmacOf("dialler"))
    this.#state = "ready"
    return { kind: "wait", send: { kind: PROOF, fields: out.bytes.subarray(0, out.at) } }
  }

  #proof(input: InputBytes): HandshakeStep {
    const { self, digest, store } = this.#terms
    const node = this.#claimed as NodeId
    const start = input.at
    const system = input.text(MAX_TEXT)
    const codec = input.text(MAX_TEXT)
    const storeTag = input.raw(PROOF_BYTES)
    const limit = input.varint()
    const ownStoreTag = this.#hmacOf("store", Buffer.from(store))
    const answerKey = this.#hmacOf("answers")
    this.#transcript = Buffer.concat([this.#transcript, input.bytes.subarray(start, input.at)])
    const proof = input.raw(PROOF_BYTES)
    endOf(input)
    if (!digest.equal(proof, this.#hmacOf("dialler"))) {
      return this.#refuse("wrong-secret", "its proof of the secret is wrong")
    }
    this.#isProven = true
    const peer = { node, address: addressOf(system, node), maxMessageBytes: limit, answerKey }
    this.#peer = peer
    if (this.#wanted !== self.address) {
      return this.#refuse(
        "wrong-address",
        `it dialled another address (this node advertises ${self.address})`,
      )
    }
    if (!digest.equal(storeTag, ownStoreTag)) return this.#refuse("wrong-store", "")
    const misfit = this.#misfit(node, codec, limit)
    if (misfit !== undefined) return misfit
    const present = this.#terms.connectionWith(node)
    if (present === undefined || present !== this.#before) return this.#admit(peer)
    const refusal = this.#terms.judge(node)
    if (refusal !== undefined) return this.#refuse(refusal, "")
    this.#state = "confirming"
    return { kind: "confirm", connection: present }
  }

  #admit(peer: Peer): HandshakeStep {
    assert(this.#isProven, "an unproven peer is admitted")
    const refusal = this.#terms.judge(peer.node)
    if (refusal !== undefined) return this.#refuse(refusal, "")
    // A connection established since then is newer than this HELLO, and the peer has accepted it.
    const present = this.#terms.connectionWith(peer.node)
    if (present !== undefined && present !== this.#before) return this.#refuse("duplicate", "")
    this.#state = "over"
    return { kind: "established", peer, send: { kind: READY, fields: undefined } }
  }

  /** Checks that both sides apply to a proven peer. */
  #misfit(node: NodeId, codec: string, limit: number): HandshakeStep | undefined {
    if (codec !== this.#terms.codec) {
      return this.#refuse("wrong-codec", `the peer has ${codec}, this node ${this.#terms.codec}`)
    }
    if (limit < LEAST_MESSAGE_BYTES || limit > MOST_MESSAGE_BYTES) {
      return this.#refuse("wrong-limit", `its maxMessageBytes is ${limit}`)
    }
    if (this.#terms.bears?.(node.host) === false) {
      return this.#refuse("wrong-certificate", `its certificate does not name ${node.host}`)
    }
    return undefined
  }

  #hmacOf(label: "dialler" | "listener" | "store" | "answers", more: Uint8Array = NOTHING): Uint8Array {
    return labelledHmac(label, this.#key, Buffer.concat([this.#transcript, more]), this.#terms.digest)
  }

  #refuse(because: HandshakeProblem, detail: string): HandshakeStep {
    this.#state = "over"
    const said = this.#isProven && because in refusalCodes ? (because as HandshakeRefusal) : "refused"
    const fields = Uint8Array.of(refusalCodes[said])
    return { kind: "refused", by: "us", because, detail, send: { kind: REFUSED, fields } }
  }
}

export interface HandshakeTerms {
  readonly self: NodeId
  readonly namespace: string
  /** The name of the system in the paths of its actors. */
  readonly system: string
  /** The name of the codec. */
  readonly codec: string
  /** The identity of the store; empty without a store. */
  readonly store: string
  /** The largest message that this node accepts. */
  readonly maxMessageBytes: number
  /** The keys of the proofs: one or two, the current one first. */
  readonly keys: readonly Uint8Array[]
  readonly digest: Digest
  readonly random: Random
  /** Returns why to refuse this node; undefined to accept it. */
  readonly judge: (peer: NodeId) => HandshakeRefusal | undefined
  /** Returns the current connection with the address of that node, if there is one. */
  readonly connectionWith: (peer: NodeId) => LiveConnection | undefined
  /**
   * Records a HELLO with a valid tag and this nonce. False if another unproven connection has sent the same
   * HELLO.
   */
  readonly admitHello?: (nonce: string) => boolean
  /** Whether the peer's certificate names this host; undefined without mutual TLS. */
  readonly bears?: ((host: string) => boolean) | undefined
}

/** A connection that a new one would replace. */
export interface LiveConnection {
  /** Asks the peer to answer, and reports within a bounded time whether it did. */
  probe(answered: (isAlive: boolean) => void): void
}

export interface Peer {
  readonly node: NodeId
  /** The address that the paths of its actors begin with. */
  readonly address: Address
  readonly maxMessageBytes: number
  /** Known only to the two ends of this connection: without it the paths of questions cannot be guessed. */
  readonly answerKey: Uint8Array
}

/** A frame to send. */
export interface Outgoing {
  readonly kind: number
  readonly fields: Uint8Array | undefined
}

/** Who refused a handshake. What an unproven peer says is good for the log only. */
export type RefusedBy = "us" | "peer" | "unproven"

export type HandshakeStep =
  | { readonly kind: "wait"; readonly send: Outgoing }
  /** The driver probes the current connection of the peer, and calls `confirmed` with the result. */
  | { readonly kind: "confirm"; readonly connection: LiveConnection; readonly send?: undefined }
  | { readonly kind: "established"; readonly peer: Peer; readonly send?: Outgoing }
  /** The handshake had already ended. */
  | { readonly kind: "over"; readonly send?: undefined }
  | {
      readonly kind: "refused"
      readonly by: RefusedBy
      readonly because: HandshakeProblem
      readonly detail: string
      readonly send?: Outgoing
    }

const MAGIC = [0x54, 0x52, 0x50, 0x45] as const
/** Limits of maxMessageBytes: errors have to fit into a message, and a message into a buffer. */
export const LEAST_MESSAGE_BYTES = 4_096
export const MOST_MESSAGE_BYTES = 2 ** 30
const NONCE_BYTES = 32
const PROOF_BYTES = 32
const MAX_TEXT = 1_024
const MAX_KEYS = 2
const NO_KEY = new Uint8Array()
const NOTHING = new Uint8Array()

function tagsIn(input: InputBytes): Uint8Array[] {
  const count = input.u8()
  if (count < 1 || count > MAX_KEYS)
    throw new MalformedBytesError(`HELLO must have 1 or 2 tags (got ${count})`)
  return Array.from({ length: count }, () => Buffer.from(input.raw(PROOF_BYTES)))
}

function endOf(input: InputBytes): void {
  if (input.left > 0) throw new MalformedBytesError("a frame of the handshake has trailing bytes")
}

function addressOf(system: string, { host, port }: NodeId): Address {
  const address = Address.of({ scheme: "troupe.tcp", system, host, port })
  if (address instanceof ActorPathError) throw new MalformedBytesError(address.message)
  return address
}
