import { join } from "node:path"
import { expect, test } from "vitest"
import { DIALLER, LISTENER, SECRET, termsOf } from "../../test/remote/golden-handshake.js"
import { NodeId } from "../address/node-id.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { type HandshakeRefusal, refusalCodes } from "./disconnect-reason.js"
import { ENVELOPE, HELLO, PING, PROOF, READY, REFUSED, WELCOME } from "./frames.js"
import { Handshake, type HandshakeStep, type HandshakeTerms, type Outgoing } from "./handshake.js"

const OTHER_SECRET = Buffer.from("one that is no secret any more.")

test("decides as its conversations tell", async () => {
  const conversations = [
    conversation("both have the secret", {}, {}),
    conversation("neither has a secret", { secret: undefined }, { secret: undefined }),
    conversation(
      "each says how it is called and how much it takes",
      { system: "carts", maxMessageBytes: 1 },
      {},
    ),
    conversation("another namespace", { namespace: "test" }, {}),
    conversation("another codec", { codec: "troupe-json-1" }, {}),
    conversation("another store", { store: "postgres 7" }, {}),
    conversation("the listener has no secret", {}, { secret: undefined }),
    conversation("the dialler has no secret", { secret: undefined }, {}),
    conversation("two secrets: the dialler finds out first", { secret: OTHER_SECRET }, {}),
    conversation(
      "two secrets, and a dialler that goes on all the same",
      { secret: OTHER_SECRET, digest: { ...termsOf(DIALLER, 1).digest, equal: () => true } },
      {},
    ),
    conversation(
      "the listener goes by another address",
      {},
      { self: NodeId.of("c.test", 1, LISTENER.incarnation) },
    ),
    conversation(
      "a listener that is not who was dialled, and says so only in its answer",
      {},
      {},
      { change: rewritten(WELCOME, (frame) => swapText(frame, "b.test:2552", "b.test:2553")) },
    ),
    conversation("a node that dials itself", {}, { self: DIALLER }, { dialled: DIALLER.address }),
    conversation(
      "a node that is told, where it dialled another, that it has reached itself",
      {},
      {},
      { change: rewritten(WELCOME, (frame) => swapText(frame, LISTENER.toString(), DIALLER.toString())) },
    ),
    conversation("the listener has quarantined the dialler", {}, { judge: () => "quarantined" }),
    conversation("the dialler has quarantined the listener", { judge: () => "quarantined" }, {}),
    conversation("the listener dials as well, and its dial stands", {}, { judge: () => "duplicate" }),
    conversation(
      "the dialler does not mind that it would refuse the other's dial",
      { judge: () => "duplicate" },
      {},
    ),
    conversation("the listener is stopping", {}, { judge: () => "stopping" }),
    conversation(
      "the listener begins to dial between HELLO and PROOF",
      {},
      { judge: inTurn<HandshakeRefusal | undefined>(undefined, "duplicate") },
    ),
    conversation(
      "there is a connection with the dialler already: the new one takes its place",
      {},
      { connectionWith: () => "the old one" },
    ),
    conversation(
      "a connection with the dialler was made between HELLO and PROOF: that one is newer",
      {},
      { connectionWith: inTurn<unknown>("the old one", "the newer one") },
    ),
    conversation(
      "the first connection with the dialler was made between HELLO and PROOF",
      {},
      { connectionWith: inTurn<unknown>(undefined, "the first") },
    ),
    conversation(
      "the connection with the dialler was lost between HELLO and PROOF",
      {},
      { connectionWith: inTurn<unknown>("the old one", undefined) },
    ),
    conversation(
      "another version of the protocol in HELLO",
      {},
      {},
      { change: rewritten(HELLO, (frame) => setByte(frame, 4, 2)) },
    ),
    conversation(
      "another version of the protocol in WELCOME",
      {},
      {},
      { change: rewritten(WELCOME, (frame) => setByte(frame, 0, 2)) },
    ),
    conversation(
      "something that is no node",
      {},
      {},
      { change: rewritten(HELLO, () => Buffer.from("GET / HTTP/1.1\r\n")) },
    ),
    conversation(
      "a byte of HELLO is changed on the way, and both have the secret",
      {},
      {},
      { change: rewritten(HELLO, (frame) => setByte(frame, frame.length - 1, 0xff)) },
    ),
    conversation(
      "a byte of WELCOME is changed on the way",
      {},
      {},
      { change: rewritten(WELCOME, (frame) => setByte(frame, frame.length - 33, 0xff)) },
    ),
    conversation(
      "a byte of PROOF is changed on the way",
      {},
      {},
      { change: rewritten(PROOF, (frame) => setByte(frame, 0, (frame[0] as number) ^ 1)) },
    ),
    conversation(
      "no node id in HELLO",
      {},
      {},
      { change: rewritten(HELLO, (frame) => swapText(frame, DIALLER.toString(), "a.test:2551")) },
    ),
    conversation(
      "a byte too many in HELLO",
      {},
      {},
      { change: rewritten(HELLO, (frame) => Buffer.concat([frame, Buffer.of(0)])) },
    ),
    conversation(
      "a byte too many in WELCOME",
      {},
      {},
      { change: rewritten(WELCOME, (frame) => Buffer.concat([frame, Buffer.of(0)])) },
    ),
    conversation(
      "a byte too many in PROOF",
      {},
      {},
      { change: rewritten(PROOF, (frame) => Buffer.concat([frame, Buffer.of(0)])) },
    ),
    conversation(
      "a byte too many in READY",
      {},
      {},
      { change: rewritten(READY, (frame) => Buffer.concat([frame, Buffer.of(0)])) },
    ),
    conversation(
      "a byte too many in REFUSED",
      { namespace: "test" },
      {},
      { change: rewritten(REFUSED, (frame) => Buffer.concat([frame, Buffer.of(0)])) },
    ),
    conversation("a system that no path could name, in HELLO", { system: "a/b" }, {}),
    conversation("a system that no path could name, in WELCOME", {}, { system: "" }),
    conversation(
      "a namespace of 1,024 bytes",
      { namespace: "n".repeat(1_024) },
      { namespace: "n".repeat(1_024) },
    ),
    conversation(
      "a namespace of 1,025 bytes",
      { namespace: "n".repeat(1_025) },
      { namespace: "n".repeat(1_025) },
    ),
    conversation("a system's name of 1,025 bytes in WELCOME", {}, { system: "n".repeat(1_025) }),
  ]
  const golden = join(import.meta.dirname, "handshake.golden.txt")
  await expect(`${conversations.join("\n\n")}\n`).toMatchFileSnapshot(golden)
  expectNoSecret()
})

test("what was recorded is worthless to another listener: its nonce is fresh", () => {
  const { frames } = talk({}, {})
  const again = Handshake.listener(termsOf(LISTENER, 77))
  expect(heard(again, frames[0] as Outgoing)).toMatchObject({ kind: "wait" })
  expect(heard(again, frames[2] as Outgoing)).toMatchObject({
    kind: "refused",
    by: "us",
    because: "wrong-secret",
    detail: "its proof of the secret is wrong",
  })
})

test("what was recorded is good where nonces repeat: the test above fails for the nonce alone", () => {
  const { frames } = talk({}, {})
  const again = Handshake.listener(termsOf(LISTENER, 2))
  heard(again, frames[0] as Outgoing)
  expect(heard(again, frames[2] as Outgoing).kind).toBe("established")
})

test("what was recorded is worthless to another dialler", () => {
  const { frames } = talk({}, {})
  const { handshake } = Handshake.dialler(termsOf(DIALLER, 77), LISTENER.address)
  expect(heard(handshake, frames[1] as Outgoing)).toMatchObject({ by: "us", because: "wrong-secret" })
})

test("a listener's own proof, sent back to it, proves nothing", () => {
  const listener = Handshake.listener(termsOf(LISTENER, 2))
  const { hello } = Handshake.dialler(termsOf(DIALLER, 1, { secret: OTHER_SECRET }), LISTENER.address)
  const step = heard(listener, hello)
  const welcome = step.kind === "wait" ? (step.send.fields as Uint8Array) : expect.fail(step.kind)
  const reflected = { kind: PROOF, fields: welcome.subarray(welcome.length - 32) }
  expect(heard(listener, reflected)).toMatchObject({ kind: "refused", because: "wrong-secret" })
})

test("the proof of one role is never that of the other, and no two conversations share one", () => {
  const proofs = [talk({}, {}), talk({}, {}, 5), talk({ namespace: "x" }, { namespace: "x" })].flatMap(
    ({ frames }) =>
      [frames[1], frames[2]].map((frame) =>
        Buffer.from(frame?.fields ?? [])
          .subarray(-32)
          .toString("hex"),
      ),
  )
  expect(new Set(proofs).size).toBe(6)
})

test("nobody says PROOF to a listener that has another secret", () => {
  const { frames } = talk({ secret: OTHER_SECRET }, {})
  expect(frames.map(({ kind }) => kind)).toEqual([HELLO, WELCOME, REFUSED])
})

test.each([HELLO, WELCOME, PROOF])("frame %i, cut anywhere, is refused as malformed", (kind) => {
  const whole = talk({}, {}).frames.find((frame) => frame.kind === kind) as Outgoing
  const fields = whole.fields as Uint8Array
  for (let length = 0; length < fields.length; length += 1) {
    const step = heard(sideThatAwaits(kind), { kind, fields: fields.subarray(0, length) })
    expect([length, step.kind === "refused" && step.because]).toEqual([length, "malformed"])
  }
  expect(heard(sideThatAwaits(kind), whole).kind).not.toBe("refused")
})

test.each([
  ["a listener that awaits HELLO", HELLO],
  ["a dialler that awaits WELCOME", WELCOME],
  ["a listener that awaits PROOF", PROOF],
  ["a dialler that awaits READY", READY],
])("%s takes no other frame", (_who, awaited) => {
  const frames = talk({}, {}).frames
  for (const kind of [HELLO, WELCOME, PROOF, READY, ENVELOPE, PING, 0, 255]) {
    if (kind === awaited) continue
    const { fields } = frames.find((frame) => frame.kind === kind) ?? { fields: undefined }
    const side = sideThatAwaits(awaited)
    expect(heard(side, { kind, fields })).toMatchObject({
      kind: "refused",
      by: "us",
      because: "malformed",
      detail: `frame ${kind} came where the handshake has no place for it`,
      send: { kind: REFUSED, fields: Uint8Array.of(refusalCodes.malformed) },
    })
  }
})

test("whatever comes after the end is refused", () => {
  const { dialler, listener, frames } = talk({}, {})
  for (const frame of frames) {
    expect(heard(listener, frame).kind).toBe("refused")
    expect(heard(dialler, frame).kind).toBe("refused")
  }
})

test.each(Object.keys(refusalCodes) as HandshakeRefusal[])(
  "both sides understand that they are refused: %s",
  (because) => {
    for (const awaited of [HELLO, WELCOME, PROOF, READY]) {
      const step = heard(sideThatAwaits(awaited), {
        kind: REFUSED,
        fields: Uint8Array.of(refusalCodes[because]),
      })
      expect(step).toEqual({ kind: "refused", by: "peer", because, detail: "" })
    }
  },
)

test("a refusal for a reason that is not known is a malformed one", () => {
  for (const code of [0, 12, 255]) {
    const step = heard(sideThatAwaits(WELCOME), { kind: REFUSED, fields: Uint8Array.of(code) })
    expect(step).toMatchObject({ kind: "refused", by: "peer", because: "malformed" })
  }
})

test("who the peer says it is can be asked before it has proven it, and not before it has said it", () => {
  const listener = Handshake.listener(termsOf(LISTENER, 2))
  expect(listener.peer).toBeUndefined()
  heard(listener, Handshake.dialler(termsOf(DIALLER, 1), LISTENER.address).hello)
  expect(listener.peer).toMatchObject({ node: DIALLER, maxMessageBytes: 1_048_576 })
  expect(String(listener.peer?.address)).toBe("troupe.tcp://orders@a.test:2551")
})

interface Told {
  readonly dialled?: string
  /** Changes a frame on its way. */
  readonly change?: (frame: Outgoing) => Outgoing
}

const allSaid: string[] = []

/** Two sides talk until neither has anything to say, as text. */
function conversation(
  name: string,
  dialling: Partial<HandshakeTerms>,
  listening: Partial<HandshakeTerms>,
  { dialled = LISTENER.address, change = (frame) => frame }: Told = {},
): string {
  const { handshake: dialler, hello } = Handshake.dialler(termsOf(DIALLER, 1, dialling), dialled)
  const listener = Handshake.listener(termsOf(LISTENER, 2, listening))
  const lines = [`# ${name}`, `  dialler                  says ${frameText(hello)}`]
  const over = new Set<string>()
  let said: Outgoing | undefined = hello
  for (let side: Side = "listener"; said !== undefined && !over.has(side); side = otherOf(side)) {
    const frame: Outgoing = change(said)
    allSaid.push(textsOf(frame.fields ?? new Uint8Array()))
    const step = heard(side === "listener" ? listener : dialler, frame)
    allSaid.push(JSON.stringify(step))
    lines.push(`  ${side.padEnd(8)} hears ${frameNames.get(frame.kind)?.padEnd(8)}  ${stepText(step)}`)
    if (step.kind !== "wait") over.add(side)
    said = step.send
  }
  return lines.join("\n")
}

/** The same without the text: all frames, in the order in which they were said. */
function talk(dialling: Partial<HandshakeTerms>, listening: Partial<HandshakeTerms>, nonce = 1) {
  const { handshake: dialler, hello } = Handshake.dialler(termsOf(DIALLER, nonce, dialling), LISTENER.address)
  const listener = Handshake.listener(termsOf(LISTENER, nonce + 1, listening))
  const frames = [hello]
  for (const side of [listener, dialler, listener, dialler]) {
    const step = heard(side, frames.at(-1) as Outgoing)
    if (step.send === undefined) break
    frames.push(step.send)
    if (step.kind === "refused") break
  }
  return { dialler, listener, frames }
}

function sideThatAwaits(kind: number): Handshake {
  const { handshake: dialler, hello } = Handshake.dialler(termsOf(DIALLER, 1), LISTENER.address)
  const listener = Handshake.listener(termsOf(LISTENER, 2))
  if (kind === HELLO) return listener
  if (kind === WELCOME) return dialler
  const welcome = heard(listener, hello)
  if (kind === PROOF) return listener
  heard(dialler, welcome.send as Outgoing)
  return dialler
}

/** Not at the start of its buffer, as a frame hardly ever is. */
function heard(side: Handshake, { kind, fields = new Uint8Array() }: Outgoing): HandshakeStep {
  const bytes = Buffer.concat([Buffer.alloc(7, 0x99), fields, Buffer.alloc(9, 0x99)])
  const step = side.receive(kind, new InputBytes(bytes, 7, 7 + fields.length))
  bytes.fill(0)
  return step
}

type Side = "dialler" | "listener"

function otherOf(side: Side): Side {
  return side === "dialler" ? "listener" : "dialler"
}

const frameNames = new Map([
  [HELLO, "HELLO"],
  [WELCOME, "WELCOME"],
  [PROOF, "PROOF"],
  [READY, "READY"],
  [REFUSED, "REFUSED"],
])

function frameText({ kind, fields }: Outgoing): string {
  return `${frameNames.get(kind)}, ${fields?.length ?? 0} bytes`
}

function stepText(step: HandshakeStep): string {
  switch (step.kind) {
    case "wait":
      return `says ${frameText(step.send)}`
    case "established": {
      const { node, address, maxMessageBytes } = step.peer
      const says = step.send === undefined ? "" : `, says ${frameText(step.send)}`
      return `established: ${node}, ${address}, takes ${maxMessageBytes} bytes${says}`
    }
    case "refused": {
      const detail = step.detail === "" ? "" : ` (${step.detail})`
      const says = step.send === undefined ? "" : `, says REFUSED ${step.send.fields?.[0]}`
      return `refused by ${step.by === "us" ? "it" : "its peer"}: ${step.because}${detail}${says}`
    }
  }
}

/** The bytes in every form in which a text could stand in them. */
function textsOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes)
  return `${buffer.toString("latin1")} ${buffer.toString("hex")} ${buffer.toString("base64")}`
}

function expectNoSecret(): void {
  expect(allSaid.length).toBeGreaterThan(100)
  for (const secret of [Buffer.from(SECRET), OTHER_SECRET]) {
    for (const said of allSaid) {
      for (const length of [secret.length, 8]) {
        const part = secret.subarray(0, length)
        expect(said).not.toContain(part.toString("latin1"))
        expect(said).not.toContain(part.toString("hex"))
        expect(said).not.toContain(part.toString("base64").slice(0, 10))
        expect(said).not.toContain([...part].join(","))
      }
    }
  }
}

function rewritten(kind: number, rewrite: (fields: Buffer) => Buffer): (frame: Outgoing) => Outgoing {
  return (frame) => (frame.kind === kind ? { kind, fields: rewrite(Buffer.from(frame.fields ?? [])) } : frame)
}

function setByte(fields: Buffer, at: number, value: number): Buffer {
  fields[at] = value
  return fields
}

/** One text for another, with its tag and length. */
function swapText(fields: Buffer, from: string, to: string): Buffer {
  const written = asWritten(from)
  const at = fields.indexOf(written.subarray(0, written.length))
  if (at >= 0)
    return Buffer.concat([fields.subarray(0, at), asWritten(to), fields.subarray(at + written.length)])
  const inside = fields.indexOf(from)
  if (inside < 0 || from.length !== to.length) expect.fail(`there is no ${from}`)
  fields.write(to, inside)
  return fields
}

function asWritten(text: string): Buffer {
  const out = new OutputBuffer(64)
  out.text(text)
  return out.bytes.subarray(0, out.at)
}

/** One after another. */
function inTurn<T>(...values: T[]): () => T {
  return () => values.shift() as T
}
