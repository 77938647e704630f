import { NodeId } from "../../../src/address/node-id.js"
import { binaryCodec, type CodecFactory } from "../../../src/index.js"
import { BATCH_HEADER_BYTES, TERMINATED, UNWATCH, WATCH, WATCHING } from "../../../src/remote/frames.js"
import { SeededRandom } from "../../../src/sim/seeded-random.js"
import { freshNode, RawPeer } from "./raw-peer.js"
import { until } from "./until.js"
import type { WatchedNode } from "./watched-node.js"
import {
  answer,
  batch,
  type Frame,
  failure,
  frame,
  Named,
  name,
  oneWay,
  payloadOf,
  RefText,
  request,
  sealed,
  varint,
  watch,
} from "./wire.js"

/**
 * Sends frames as nodes do, with some of their bytes mutated and a correct checksum, so that they reach the decoders. A
 * peer that is disconnected reconnects as another node. The frames depend on the seed alone.
 */
export class Fuzzer {
  /** The mutated frames that were sent. Frames behind one that ends the connection are not read. */
  sent = 0
  /** The mutated payloads that the codec was given. */
  decoded = 0
  connections = 0
  /** For the setting `codec`: the default codec, which counts payloads. */
  readonly codec: CodecFactory = (tools) => {
    const codec = binaryCodec()(tools)
    return {
      name: codec.name,
      encode: (value, out) => codec.encode(value, out),
      decode: (bytes, start, end) => {
        this.decoded += 1
        const value = codec.decode(bytes, start, end)
        if (isHonest(value)) this.decoded -= 1
        return value
      },
    }
  }
  readonly #random: readonly SeededRandom[]

  constructor(seed: number) {
    this.#random = Array.from({ length: WORKERS }, (_, worker) => new SeededRandom(seed * WORKERS + worker))
  }

  /** Runs over several concurrent connections until the codec has been given that many payloads. */
  async run(node: WatchedNode, payloads: number): Promise<void> {
    const enough = this.decoded + payloads
    await Promise.all(this.#random.map((random, worker) => this.#work(node, worker, random, enough)))
  }

  async #work(node: WatchedNode, worker: number, random: SeededRandom, enough: number): Promise<void> {
    while (this.decoded < enough) {
      const self = NodeId.of("127.0.0.3", 1_000 + worker, freshNode().incarnation)
      const peer = await RawPeer.admitted(node, { self })
      this.connections += 1
      const corpus = await this.#frames(node, peer, self)
      while (this.decoded < enough && !peer.isClosed) {
        peer.write(mutatedBatch(corpus, FRAMES_A_BATCH, random))
        this.sent += FRAMES_A_BATCH
        await settled(peer, node)
      }
      peer.destroy()
    }
  }

  /** The frames that a node may send, including answers to questions. */
  async #frames(node: WatchedNode, peer: RawPeer, self: NodeId): Promise<Frame[]> {
    const asked = node.system.resolve<unknown>(`troupe.tcp://besieged@${self.address}/user/asked`)
    const ask = () => node.system.ask(asked, (replyTo) => ({ replyTo }), { timeoutMs: 2_000 })
    for (let count = 0; count < QUESTIONS; count += 1) ask().catch(() => {})
    await until("it is asked", () => peer.messages.length === QUESTIONS || peer.isClosed)
    const answers = peer.messages.map(({ envelope }, at) => {
      const payload = payloads[at % payloads.length] as Buffer
      return at % 2 === 0 ? answer(envelope.correlation, payload) : failure(envelope.correlation, error)
    })
    peer.frames.length = 0
    peer.send(name(0, node.path("echo")), name(1, node.path("nobody")))
    const watches = Array.from({ length: 3 }, (_, number) => watch(number, node.path("echo")))
    return [
      ...payloads.flatMap((payload, at) => [oneWay(at % 2, payload), request(at % 2, at, payload)]),
      ...questions.map((payload, at) => request(0, at, payload)),
      ...answers,
      name(1, node.path("echo")),
      ...watches,
      frame(UNWATCH, varint(1)),
      frame(WATCHING, varint(1), varint(7)),
      frame(TERMINATED, varint(1), payloadOf(new Error("gone"))),
    ]
  }
}

const WORKERS = 16
const FRAMES_A_BATCH = 4
const QUESTIONS = 4

/** A message most of whose bytes can be changed without making it unreadable. */
const soft = "x".repeat(500)

const payloads: readonly Buffer[] = [
  {
    text: "\u{1f3ad} and \u4e2d\u6587",
    numbers: [1, -1, 1e9, -1e9, 0.5, 2 ** 40],
    flags: [true, false, null, undefined],
  },
  {
    map: new Map<unknown, unknown>([
      ["a", 1],
      [2, new Set([1, "b"])],
    ]),
    when: new Date(0),
    big: [2n ** 70n, -5n],
  },
  { bytes: new Uint8Array(60), floats: new Float64Array(6), view: new DataView(new ArrayBuffer(8)) },
  {
    failed: new RangeError("out of range", { cause: new TypeError("inner") }),
    many: new AggregateError([new Error("x")]),
  },
  [new RefText("troupe.tcp://besieged@127.0.0.3:1000/user/asked"), new Named("FromTheFuture", { a: [1] })],
  soft,
  { blob: new Uint8Array(600) },
  { floats: new Float64Array(60), text: "x".repeat(100) },
  Array.from({ length: 40 }, (_, at) => ({ id: at, name: `name ${at}` })),
].map((value) => payloadOf([value, soft]))

/** Payloads with a reply ref, which only a question may have. */
const questions: readonly Buffer[] = [
  { text: soft, replyTo: new RefText("") },
  { text: "\u4e2d".repeat(200), replyTo: new RefText("") },
].map(payloadOf)

const error = payloadOf(new RangeError(soft, { cause: { a: [1] } }))

function mutatedBatch(corpus: Frame[], count: number, random: SeededRandom): Buffer {
  const frames = Array.from({ length: count }, () => {
    const at = random.below(corpus.length)
    const { kind, fields } = corpus[at] as Frame
    // The number of a watch may not be reused.
    if (kind === WATCH) corpus.splice(at, 1)
    return { kind: random.chance(0.01) ? random.below(256) : kind, fields: mutated(fields, random) }
  })
  const bytes = batch(...frames)
  // Occasionally mutates the lengths of frames too.
  return random.chance(0.02) ? sealed(mutated(bytes.subarray(BATCH_HEADER_BYTES), random)) : bytes
}

function mutated(bytes: Buffer, random: SeededRandom): Buffer {
  const copy = Buffer.from(bytes)
  const at = random.below(copy.length)
  const length = random.below(Math.min(16, copy.length - at))
  switch (random.below(40)) {
    case 0:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at + length)])
    case 1:
      return Buffer.concat([copy.subarray(0, at + length), copy.subarray(at)])
    case 2:
      return Buffer.concat([copy.subarray(0, at), random.bytes(length), copy.subarray(at)])
    case 3:
      return copy.subarray(0, at)
    case 4:
      copy[at] = random.pick(EDGES)
      return copy
    default:
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8))
      return copy
  }
}

const EDGES = [
  0x00, 0x01, 0x7f, 0x80, 0x9f, 0xa0, 0xaf, 0xb0, 0xbf, 0xc0, 0xd0, 0xd6, 0xd7, 0xd8, 0xfe, 0xff,
] as const

/** Resolves when the node has handled everything that was sent, or has disconnected. */
async function settled(peer: RawPeer, node: WatchedNode): Promise<void> {
  peer.frames.length = 0
  peer.send(watch(2 ** 40 + peer.sent.length, node.path("nobody")))
  peer.sent.length = 1
  await until("the node has dealt with a batch", () => peer.isClosed || peer.framesOf(WATCHING).length > 0)
}

function isHonest(value: unknown): boolean {
  const text = (value as { text?: unknown } | null | undefined)?.text
  return typeof text === "string" && text.startsWith("question ")
}
