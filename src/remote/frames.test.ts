import { join } from "node:path"
import { expect, test } from "vitest"
import { framesIn } from "../../test/remote/golden-connection.js"
import { DIALLER, KEY, LISTENER, termsOf } from "../../test/remote/golden-handshake.js"
import { FakeActor, FakeQuestion, HERE, remoteRef, startSession } from "../../test/remote/golden-session.js"
import { ActorPath } from "../address/actor-path.js"
import { nodeDigest } from "../runtime/node-digest.js"
import {
  ALWAYS_INTERLEAVE,
  ANSWER,
  type Direction,
  Envelope,
  FAILURE,
  LOCAL_ONLY,
  ONE_WAY,
  READ_ONLY,
  REQUEST,
  readEnvelope,
  SUPPRESS_KEEP_ALIVE,
  writeEnvelope,
} from "../serialization/envelope.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { BatchReader } from "./batch-reader.js"
import { BatchWriter } from "./batch-writer.js"
import { BATCH_HEADER_BYTES, ENVELOPE, HELLO, PROOF, READY, REFUSED, WELCOME } from "./frames.js"
import { Handshake, type Outgoing } from "./handshake.js"
import { RemoteReply } from "./remote-reply.js"

test("every kind of frame has the bytes that it always had", async () => {
  const dumps = [
    ...handshakeFrames(),
    ...sessionFrames(),
    await ping(),
    ...envelopes().map(([name, envelope]) => dump(name, written(envelope))),
  ]
  const golden = join(import.meta.dirname, "frames.golden.txt")
  await expect(`${dumps.join("\n\n")}\n`).toMatchFileSnapshot(golden)
})

test.each(envelopes())("%s: comes back as it was, and leaves the payload", (_name, envelope) => {
  const [frame] = framesIn(written(envelope).subarray(BATCH_HEADER_BYTES))
  if (frame === undefined) expect.fail("there is no frame")
  const input = new InputBytes(frame.fields, 0, frame.fields.length)
  const read = new Envelope()
  readEnvelope(input, read)
  expect(read).toEqual(envelope)
  expect(input.raw(input.left)).toEqual(PAYLOAD)
})

const PAYLOAD = Buffer.of(0x07)

/** Whole batches, as they would go to the network: nonces 01.. and 02.., and the secret of the tests. */
function handshakeFrames(): string[] {
  const { handshake: dialler, hello } = Handshake.dialler(termsOf(DIALLER, 1), LISTENER.address)
  const listener = Handshake.listener(termsOf(LISTENER, 2))
  const welcome = reply(listener, hello)
  const proof = reply(dialler, welcome)
  const ready = reply(listener, proof)
  const refused = reply(Handshake.listener(termsOf(LISTENER, 2, { keys: [Buffer.from("another")] })), hello)
  const keys = [KEY, Buffer.from("the key before it")]
  const twoHello = Handshake.dialler(termsOf(DIALLER, 1, { keys }), LISTENER.address).hello
  const twoWelcome = reply(Handshake.listener(termsOf(LISTENER, 2, { keys: keys.slice(1) })), twoHello)
  return [
    dump("HELLO, with one key", batch(hello, HELLO)),
    dump("WELCOME, with the only key", batch(welcome, WELCOME)),
    dump("PROOF", batch(proof, PROOF)),
    dump("READY", batch(ready, READY)),
    dump("REFUSED", batch(refused, REFUSED)),
    dump("HELLO, with two keys", batch(twoHello, HELLO)),
    dump("WELCOME, with the second key", batch(twoWelcome, WELCOME)),
  ]
}

function sessionFrames(): string[] {
  const { session, connection, tools, actors } = startSession()
  const sent = (name: string, say: () => void) => {
    say()
    tools.scheduler.endTurn()
    return dump(name, Buffer.concat(connection.writes.splice(0)))
  }
  const cart = remoteRef("cart")
  const path = `${HERE}/user/orders`
  const actor = new FakeActor(ActorPath.parse(`${path}#77`))
  actors.set(path, actor)
  return [
    sent("NAME and a one-way ENVELOPE in one batch: { add: 3 }", () => session.tell(cart, { add: 3 })),
    sent("a one-way ENVELOPE to a name that has been told: [1, 2]", () => session.tell(cart, [1, 2])),
    sent("a request, correlation 300, 1000 ms: { replyTo } where replyTo is the question's own", () => {
      const question = new FakeQuestion(300)
      session.request(cart, question, 1_000, { replyTo: question })
    }),
    sent("an answer to correlation 300: true", () => session.peerQuestions.sendEncoded(300, Buffer.of(0xc3))),
    sent("a failure for correlation 300: a RangeError without a stack", () => {
      const error = new RangeError("no")
      delete error.stack
      session.peerQuestions.fail(new RemoteReply(session.peerQuestions, 300, actor, 1_000), error)
    }),
    sent("WATCH 1", () => session.watch(1, cart.path)),
    sent("UNWATCH 1", () => session.unwatch(1)),
    sent("WATCHING 5, uid 77, said to a WATCH", () => {
      const out = Buffer.concat([Buffer.of(5, 0xcd, path.length), Buffer.from(path)])
      session.receive(0x12, new InputBytes(out, 0, out.length))
    }),
    sent("TERMINATED 5, stopped", () => actor.stop()),
    sent("GOODBYE", () => session.leave()),
  ]
}

async function ping(): Promise<string> {
  const { connection, tools } = startSession()
  await tools.clock.advance(2_000)
  return dump("PING", Buffer.concat(connection.writes))
}

/** All directions, bare and with every extra; each extra; each flag. */
function envelopes(): [string, Envelope][] {
  const trace = {
    traceId: "000102030405060708090a0b0c0d0e0f",
    spanId: "1011121314151617",
    sampled: true,
  }
  const extras = { chain: ["Cart/7", "Ümlaut/Ж"], trace }
  const directions: [string, Direction][] = [
    ["one-way", ONE_WAY],
    ["request", REQUEST],
    ["answer", ANSWER],
    ["failure", FAILURE],
  ]
  const made: [string, Envelope][] = []
  for (const [name, direction] of directions) {
    made.push([`ENVELOPE: ${name}, bare`, envelopeOf(direction, {})])
    made.push([`ENVELOPE: ${name}, every extra`, envelopeOf(direction, extras)])
  }
  for (const [extra, value] of Object.entries(extras)) {
    made.push([`ENVELOPE: one-way, ${extra}`, envelopeOf(ONE_WAY, { [extra]: value })])
  }
  made.push([
    "ENVELOPE: one-way, trace not sampled",
    envelopeOf(ONE_WAY, { trace: { ...trace, sampled: false } }),
  ])
  const flags = { READ_ONLY, ALWAYS_INTERLEAVE, LOCAL_ONLY, SUPPRESS_KEEP_ALIVE }
  for (const [flag, bit] of Object.entries(flags)) {
    made.push([`ENVELOPE: one-way, flag ${flag}`, envelopeOf(ONE_WAY, { flags: bit })])
  }
  made.push(["ENVELOPE: request, every flag", envelopeOf(REQUEST, { flags: 15 })])
  return made
}

function envelopeOf(direction: Direction, changed: Partial<Envelope>): Envelope {
  const envelope = new Envelope()
  envelope.direction = direction
  if (direction !== ONE_WAY) envelope.correlation = 1_000_000
  if (direction <= REQUEST) envelope.target = 9
  if (direction === REQUEST) envelope.timeLeftMs = 30_000
  return Object.assign(envelope, changed)
}

function written(envelope: Envelope): Buffer {
  const writer = new BatchWriter(nodeDigest)
  const frame = writer.open(ENVELOPE)
  writeEnvelope(writer, envelope)
  writer.raw(PAYLOAD)
  writer.close(frame)
  return writer.take()
}

function batch({ kind, fields }: Outgoing, expected: number): Buffer {
  expect(kind).toBe(expected)
  const writer = new BatchWriter(nodeDigest)
  writer.frame(kind, fields)
  return writer.take()
}

function reply(side: Handshake, { kind, fields = new Uint8Array() }: Outgoing): Outgoing {
  const { send } = side.receive(kind, new InputBytes(Buffer.from(fields), 0, fields.length))
  return send ?? expect.fail("it says nothing")
}

/** The batch in hex, once it is seen that a reader takes it as it is. */
function dump(name: string, bytes: Buffer): string {
  const bodies: string[] = []
  const reader = new BatchReader(nodeDigest, 100_000)
  const problem = reader.push(bytes, (held, start, end) => bodies.push(held.toString("hex", start, end)) > 0)
  expect([problem, reader.announced]).toEqual([undefined, 0])
  expect(bodies).toEqual([bytes.toString("hex", BATCH_HEADER_BYTES)])
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16)
    const hex = [...row].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")
    const text = [...row]
      .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "."))
      .join("")
    lines.push(`  ${at.toString(16).padStart(4, "0")}  ${hex.padEnd(47)}  ${text}`)
  }
  return [`# ${name}`, ...lines].join("\n")
}
