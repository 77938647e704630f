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
 * How two nodes come to believe each other: a decision over the frames of one side. No other frame is looked
 * at before it is over.
 *
 *     dialler                                             listener
 *       HELLO  version, who I am, whom I dialled,
 *              nonce, a tag by each of my keys      ------>
 *                                 WELCOME  which key, who I am, system, codec,
 *              <------                     limit, nonce, proof
 *       PROOF  system, codec, store, limit, proof   ------>
 *              <------                            READY
 *
 * All is keyed with secrets that were stretched (`shared-keys.ts`), and never travel. A tag is an HMAC over
 * HELLO: by it the listener finds a key that both have, as each side may have two while the secret is being
 * changed, and a stranger without one gets no answer that depends on a secret. The tag can be repeated by
 * whoever recorded it, though not while the first is unproven. So it proves nothing: the proofs do, which are
 * HMACs over both nonces and everything both have said. Each role has its own label, so that nobody's proof
 * can be sent back to them. The listener proves itself first: a dialler that finds another secret says no
 * more. The store's identity never travels either; PROOF has an HMAC of it. READY is there so that the
 * dialler calls nobody connected who has not agreed to it.
 *
 * A node that has lost its connection makes a new one, which takes the place of the old. Before it does, the
 * old one is asked whether somebody still answers on it: if so, somebody else goes by the same address, and
 * the new one is refused as `occupied`. Two nodes that dial each other at one time may look the same to a
 * listener; it can tell by its connection having been made after the HELLO, and refuses a duplicate.
 *
 * Either side may say REFUSED instead, and closes. It gives the reason only to a peer that has proven itself;
 * everybody else is told `refused`, and the log of this node has the rest. The reason of a peer that has
 * proven nothing is good for the log and for nothing else.
 *
 * The proof says who is at the other end, and protects nothing that is sent afterwards. Where the network is
 * not to be trusted, that is for TLS to do; a home-made cipher would be worse than none.
 */
export class Handshake {
  readonly #terms: HandshakeTerms
  /** The authority that was dialled; undefined for a listener. */
  readonly #dialled: string | undefined
  #state: "begin" | "welcome" | "proof" | "confirming" | "ready" | "over"
  #peer: Peer | undefined
  /** Who the peer says it is. */
  #claimed: NodeId | undefined
  #isProven = false
  /** The one of the keys that both have. */
  #key: Uint8Array = NO_KEY
  /** Whom the peer says that it dialled. */
  #wanted = ""
  /** A listener's connection with that node at the time of its HELLO. */
  #before: LiveConnection | undefined
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

  /** Who the other says it is; proven only once this is established. */
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

  /** Whether somebody answered on the connection that the new one would replace. */
  confirmed(isAlive: boolean): HandshakeStep {
    if (this.#state !== "confirming") return { kind: "over" }
    if (isAlive) return this.#refuse("occupied", "the connection that it would replace is in use")
    return this.#admit(this.#peer as Peer)
  }

  /**
   * The connection has ended: whatever is said of the old one from now on, nobody is admitted on this one.
   */
  ended(): void {
    this.#state = "over"
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
      assert(this.#isProven && this.#peer !== undefined, "a peer that has proven nothing is established")
      this.#state = "over"
      return { kind: "established", peer: this.#peer }
    }
    return this.#refuse("malformed", `frame ${kind} came where the handshake has no place for it`)
  }

  #hello(input: InputBytes): HandshakeStep {
    const { self, namespace, keys, system, codec, maxMessageBytes, digest, random } = this.#terms
    const start = input.at
    for (const byte of MAGIC) if (input.u8() !== byte) return this.#refuse("malformed", "no node says this")
    const version = input.u8()
    if (version !== PROTOCOL_VERSION) {
      return this.#refuse("wrong-version", `it speaks version ${version}, this node ${PROTOCOL_VERSION}`)
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
    if (this.#terms.greeted?.(nonce.toString("latin1")) === false) {
      return this.#refuse("replayed", "its HELLO is that of another connection")
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
    if (version !== PROTOCOL_VERSION) return this.#refuse("wrong-version", `it speaks version ${version}`)
    const key = keys[input.u8()]
    const node = NodeId.parse(input.text(MAX_TEXT))
    const theirSystem = input.text(MAX_TEXT)
    const theirCodec = input.text(MAX_TEXT)
    const limit = input.varint()
    input.skip(NONCE_BYTES)
    this.#transcript = Buffer.concat([this.#transcript, input.bytes.subarray(start, input.at)])
    const proof = input.raw(PROOF_BYTES)
    endOf(input)
    if (key === undefined) throw new MalformedBytesError("it says a key that this node has not named")
    this.#key = key
    this.#claimed = node
    if (!digest.equal(proof, this.#hmacOf("listener"))) {
      return this.#refuse("wrong-secret", "its proof of the secret is wrong")
    }
    this.#isProven = true
    if (node.equals(self)) return this.#refuse("self", "")
    if (node.address !== this.#dialled) return this.#refuse("wrong-address", `it goes by ${node.address}`)
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
      return this.#refuse("wrong-address", `it dialled another address than ${self.address}`)
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
    assert(this.#isProven, "a peer that has proven nothing is admitted")
    const refusal = this.#terms.judge(peer.node)
    if (refusal !== undefined) return this.#refuse(refusal, "")
    // One that was made since is newer than this one's HELLO, and the peer has agreed to it.
    const present = this.#terms.connectionWith(peer.node)
    if (present !== undefined && present !== this.#before) return this.#refuse("duplicate", "")
    this.#state = "over"
    return { kind: "established", peer, send: { kind: READY, fields: undefined } }
  }

  /** What both sides hold against a peer that has proven itself. */
  #misfit(node: NodeId, codec: string, limit: number): HandshakeStep | undefined {
    if (codec !== this.#terms.codec) {
      return this.#refuse("wrong-codec", `it has ${codec}, this node ${this.#terms.codec}`)
    }
    if (limit < LEAST_MESSAGE_BYTES || limit > MOST_MESSAGE_BYTES) {
      return this.#refuse("wrong-limit", `it takes messages of ${limit} bytes`)
    }
    if (this.#terms.bears?.(node.host) === false) {
      return this.#refuse("wrong-certificate", `its certificate does not bear ${node.host}`)
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
  /** The system's name in the paths of its actors. */
  readonly system: string
  /** The codec's name. */
  readonly codec: string
  /** The store's identity; empty without one. */
  readonly store: string
  /** The largest message that this node takes. */
  readonly maxMessageBytes: number
  /** What proofs are keyed with: one or two, the current one first. */
  readonly keys: readonly Uint8Array[]
  readonly digest: Digest
  readonly random: Random
  /** Whether to talk to this node at all. */
  readonly judge: (peer: NodeId) => HandshakeRefusal | undefined
  /** The connection that there is with the address of this node; undefined without one. */
  readonly connectionWith: (peer: NodeId) => LiveConnection | undefined
  /**
   * A dialler has said what only a node of the cluster says, with this nonce. False if another that is
   * unproven has said the same.
   */
  readonly greeted?: (nonce: string) => boolean
  /** Whether the peer's certificate bears this host; undefined where certificates do not say who is who. */
  readonly bears?: ((host: string) => boolean) | undefined
}

/** A connection that a new one would replace. */
export interface LiveConnection {
  /** Asks whether somebody is still there, and is told within a bounded time. */
  probe(answered: (isAlive: boolean) => void): void
}

export interface Peer {
  readonly node: NodeId
  /** What the paths of its actors begin with. */
  readonly address: Address
  readonly maxMessageBytes: number
  /**
   * Known to both ends of this connection and to nobody else: where answers go cannot be guessed without it.
   */
  readonly answerKey: Uint8Array
}

/** A frame to send. */
export interface Outgoing {
  readonly kind: number
  readonly fields: Uint8Array | undefined
}

export type HandshakeStep =
  | { readonly kind: "wait"; readonly send: Outgoing }
  /** The listener asks whether the connection that the peer has is still in use, and tells `confirmed`. */
  | { readonly kind: "confirm"; readonly connection: LiveConnection; readonly send?: undefined }
  | { readonly kind: "established"; readonly peer: Peer; readonly send?: Outgoing }
  /** It had ended before. */
  | { readonly kind: "over"; readonly send?: undefined }
  | {
      readonly kind: "refused"
      readonly by: "us" | "peer"
      readonly because: HandshakeProblem
      readonly detail: string
      readonly send?: Outgoing
    }

const MAGIC = [0x54, 0x52, 0x50, 0x45] as const
/** What a node may say that it takes: errors have to fit, and a buffer has to hold it. */
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
  if (count < 1 || count > MAX_KEYS) throw new MalformedBytesError(`a HELLO has 1 or 2 tags, not ${count}`)
  return Array.from({ length: count }, () => Buffer.from(input.raw(PROOF_BYTES)))
}

function endOf(input: InputBytes): void {
  if (input.left > 0) throw new MalformedBytesError("a frame of the handshake is longer than it should be")
}

function addressOf(system: string, { host, port }: NodeId): Address {
  const address = Address.of({ scheme: "troupe.tcp", system, host, port })
  if (address instanceof ActorPathError) throw new MalformedBytesError(address.message)
  return address
}
