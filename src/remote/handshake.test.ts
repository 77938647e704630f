import { createHmac } from "node:crypto"
import { join } from "node:path"
import { expect, test } from "vitest"
import { DIALLER, KEY, LISTENER, termsOf } from "../../test/remote/golden-handshake.js"
import { NodeId } from "../address/node-id.js"
import { nodeDigest } from "../runtime/node-digest.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { type HandshakeRefusal, refusalCodes } from "./disconnect-reason.js"
import { ENVELOPE, HELLO, PING, PROOF, PROTOCOL_VERSION, READY, REFUSED, WELCOME } from "./frames.js"
import {
  Handshake,
  type HandshakeStep,
  type HandshakeTerms,
  type LiveConnection,
  type Outgoing,
} from "./handshake.js"
import { openKey } from "./shared-keys.js"

const OTHER_KEY = Buffer.from("32 others, which nobody has now.")
/** Believes whatever it is shown. */
const CREDULOUS = { ...nodeDigest, equal: () => true }
const OPEN = [openKey("shop", nodeDigest)]
/** A connection that there is; the test says what comes of asking on it. */
const OLD: LiveConnection = { probe: () => {} }
const NEWER: LiveConnection = { probe: () => {} }

test("decides as its conversations tell", async () => {
  const conversations = [
    conversation("both have the secret", {}, {}),
    conversation("neither has a secret", { keys: OPEN }, { keys: OPEN }),
    conversation("the dialler has a new key and the old one", { keys: [OTHER_KEY, KEY] }, {}),
    conversation("the listener has a new key and the old one", {}, { keys: [OTHER_KEY, KEY] }),
    conversation("both have the same two", { keys: [OTHER_KEY, KEY] }, { keys: [OTHER_KEY, KEY] }),
    conversation(
      "both have the same two, in another order",
      { keys: [OTHER_KEY, KEY] },
      { keys: [KEY, OTHER_KEY] },
    ),
    conversation(
      "each says how it is called and how much it takes",
      { system: "carts", maxMessageBytes: 4_096 },
      { maxMessageBytes: 2 ** 30 },
    ),
    conversation("the dialler takes less than an error needs", { maxMessageBytes: 4_095 }, {}),
    conversation("the dialler takes more than fits", { maxMessageBytes: 2 ** 53 - 1 }, {}),
    conversation("the listener takes less than an error needs", {}, { maxMessageBytes: 1 }),
    conversation("the listener takes more than fits", {}, { maxMessageBytes: 2 ** 30 + 1 }),
    conversation("the dialler's certificate bears another host", {}, { bears: (host) => host !== "a.test" }),
    conversation("the listener's certificate bears another host", { bears: (host) => host !== "b.test" }, {}),
    conversation(
      "both have a certificate that bears their host",
      { bears: (host) => host === "b.test" },
      { bears: (host) => host === "a.test" },
    ),
    conversation("another codec", { codec: "troupe-json-1" }, {}),
    conversation("another store", { store: "postgres 7" }, {}),
    conversation("the listener has no secret", {}, { keys: OPEN }),
    conversation("the dialler has no secret", { keys: OPEN }, {}),
    conversation("two secrets", { keys: [OTHER_KEY] }, {}),
    conversation(
      "two secrets, and a listener that goes on all the same",
      { keys: [OTHER_KEY] },
      { digest: CREDULOUS },
    ),
    conversation(
      "two secrets, and both go on all the same",
      { keys: [OTHER_KEY], digest: CREDULOUS },
      { digest: { ...nodeDigest, equal: inTurn(true, false) } },
    ),
    conversation(
      "a listener that says a key that the dialler has not named",
      {},
      {},
      { change: rewritten(WELCOME, (frame) => setByte(frame, 1, 1)) },
    ),
    conversation("no tag in HELLO", { keys: [] }, {}),
    conversation("three tags in HELLO", { keys: [KEY, KEY, KEY] }, {}),
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
      "the listener dials as well, and its dial stands, though there is a connection that nobody may use",
      {},
      { judge: () => "duplicate", connectionWith: () => OLD },
    ),
    conversation(
      "there is a connection with the dialler already, on which nobody answers: the new one takes its place",
      {},
      { connectionWith: () => OLD },
      { isAlive: false },
    ),
    conversation(
      "there is a connection with the dialler already, on which somebody answers",
      {},
      { connectionWith: () => OLD },
      { isAlive: true },
    ),
    conversation(
      "nobody answers on the old connection, and meanwhile a newer one was made",
      {},
      { connectionWith: inTurn<LiveConnection | undefined>(OLD, OLD, NEWER) },
      { isAlive: false },
    ),
    conversation(
      "nobody answers on the old connection, and meanwhile the listener is stopping",
      {},
      { connectionWith: () => OLD, judge: inTurn<HandshakeRefusal | undefined>(undefined, "stopping") },
      { isAlive: false },
    ),
    conversation(
      "a connection with the dialler was made between HELLO and PROOF: that one is newer",
      {},
      { connectionWith: inTurn<LiveConnection | undefined>(OLD, NEWER, NEWER) },
    ),
    conversation(
      "the first connection with the dialler was made between HELLO and PROOF",
      {},
      { connectionWith: inTurn<LiveConnection | undefined>(undefined, NEWER, NEWER) },
    ),
    conversation(
      "the connection with the dialler was lost between HELLO and PROOF",
      {},
      { connectionWith: inTurn<LiveConnection | undefined>(OLD, undefined, undefined) },
    ),
    conversation(
      "another version of the protocol in HELLO",
      {},
      {},
      { change: rewritten(HELLO, (frame) => setByte(frame, 4, PROTOCOL_VERSION - 1)) },
    ),
    conversation(
      "another version of the protocol in WELCOME",
      {},
      {},
      { change: rewritten(WELCOME, (frame) => setByte(frame, 0, PROTOCOL_VERSION - 1)) },
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
      { codec: "troupe-json-1" },
      {},
      { change: rewritten(REFUSED, (frame) => Buffer.concat([frame, Buffer.of(0)])) },
    ),
    conversation("a system that no path could name, in HELLO", { system: "a/b" }, {}),
    conversation("a system that no path could name, in WELCOME", {}, { system: "" }),
    conversation("a codec's name of 1,024 bytes", { codec: "n".repeat(1_024) }, { codec: "n".repeat(1_024) }),
    conversation("a codec's name of 1,025 bytes", { codec: "n".repeat(1_025) }, { codec: "n".repeat(1_025) }),
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
  const { frames } = talk({}, {})
  const listener = Handshake.listener(termsOf(LISTENER, 2))
  const welcome = heard(listener, frames[0] as Outgoing).send?.fields as Uint8Array
  const said = Buffer.from(frames[2]?.fields ?? [])
  const fields = Buffer.concat([said.subarray(0, -32), welcome.subarray(-32)])
  expect(heard(listener, { kind: PROOF, fields })).toMatchObject({ kind: "refused", because: "wrong-secret" })
})

test("the proof of one role is never that of the other, and no two conversations share one", () => {
  const proofs = [talk({}, {}), talk({}, {}, 5), talk({ codec: "x" }, { codec: "x" })].flatMap(({ frames }) =>
    [frames[1], frames[2]].map((frame) =>
      Buffer.from(frame?.fields ?? [])
        .subarray(-32)
        .toString("hex"),
    ),
  )
  expect(new Set(proofs).size).toBe(6)
})

test("a listener holds the dialler to the address that it dialled, and to what the page says of proofs", () => {
  const dialled = (address: string) => {
    const listener = Handshake.listener(termsOf(LISTENER, 2, { store: "s1" }))
    const { hello, proof } = byHand(address, "s1", listener)
    expect(hello.kind).toBe("wait")
    return proof
  }
  expect(dialled(LISTENER.address).kind).toBe("established")
  expect(dialled("b.test:1")).toMatchObject({
    because: "wrong-address",
    send: { kind: REFUSED, fields: Uint8Array.of(refusalCodes["wrong-address"]) },
  })
})

test("nobody who has another secret is shown a proof, whichever side it is on", () => {
  expect(talk({ keys: [OTHER_KEY] }, {}).frames.map(({ kind }) => kind)).toEqual([HELLO, REFUSED])
  const credulous = talk({ keys: [OTHER_KEY] }, { digest: CREDULOUS }).frames
  expect(credulous.map(({ kind }) => kind)).toEqual([HELLO, WELCOME, REFUSED])
})

test("neither namespace nor store travels", () => {
  const named = { namespace: "a-namespace", store: "the-identity-of-a-store" }
  const { frames } = talk(named, named)
  expect(frames.map(({ kind }) => kind)).toEqual([HELLO, WELCOME, PROOF, READY])
  const said = frames.map(({ fields }) => textsOf(fields ?? new Uint8Array())).join()
  expect(said).toContain("a.test:2551")
  expect(said).not.toContain(named.namespace)
  expect(said).not.toContain(named.store)
})

test("both know the same key for their answers, and nobody else does", () => {
  const answerKeyOf = (nonce: number) => {
    const { steps } = talk({}, {}, nonce)
    const keys = steps.flatMap((step) => (step.kind === "established" ? [step.peer.answerKey] : []))
    expect(keys).toHaveLength(2)
    expect(keys[0]).toEqual(keys[1])
    return Buffer.from(keys[0] as Uint8Array).toString("hex")
  }
  expect(answerKeyOf(1)).not.toBe(answerKeyOf(5))
})

test("a peer that has proven nothing is told that it is refused, and not why", () => {
  const stranger = talk({ keys: [OTHER_KEY] }, {})
  expect(stranger.frames.at(-1)?.fields).toEqual(Uint8Array.of(refusalCodes.refused))
  expect(stranger.steps[0]).toMatchObject({ because: "wrong-secret" })
})

test("what is said of the old connection after the handshake has ended changes nothing", () => {
  const { listener } = talk({}, {})
  expect(listener.confirmed(true)).toEqual({ kind: "over" })
})

test("whose connection ends while the old one is asked admits nobody", () => {
  const { listener } = talk({}, { connectionWith: () => OLD })
  listener.ended()
  expect(listener.confirmed(false)).toEqual({ kind: "over" })
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
      detail: `unexpected frame ${kind} in the handshake`,
      send: {
        kind: REFUSED,
        fields: Uint8Array.of(refusalCodes[awaited === READY ? "malformed" : "refused"]),
      },
    })
  }
})

test("whatever comes after the end is refused", () => {
  for (const at of [0, 1, 2, 3]) {
    const { dialler, listener, frames } = talk({}, {})
    const frame = frames[at] as Outgoing
    // For coming at all: nothing in it is looked at any more.
    const refused = {
      kind: "refused",
      detail: `unexpected frame ${frame.kind} in the handshake`,
    }
    expect(heard(listener, frame)).toMatchObject(refused)
    expect(heard(dialler, frame)).toMatchObject(refused)
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
      const by = awaited === READY ? "peer" : "unproven"
      expect(step).toEqual({ kind: "refused", by, because, detail: "" })
    }
  },
)

test("a refusal for a reason that is not known is a malformed one", () => {
  for (const code of [0, 14, 255]) {
    const step = heard(sideThatAwaits(WELCOME), { kind: REFUSED, fields: Uint8Array.of(code) })
    expect(step).toMatchObject({ kind: "refused", by: "unproven", because: "malformed" })
  }
})

test("who the peer says it is can be asked before it has proven it, and not before it has said it", () => {
  const listener = Handshake.listener(termsOf(LISTENER, 2))
  expect(listener.claimed).toBeUndefined()
  heard(listener, Handshake.dialler(termsOf(DIALLER, 1), LISTENER.address).hello)
  expect(listener.claimed).toEqual(DIALLER)
})

interface Told {
  readonly dialled?: string
  /** Changes a frame on its way. */
  readonly change?: (frame: Outgoing) => Outgoing
  /** Whether somebody answers on the connection that would be replaced. */
  readonly isAlive?: boolean
}

const allSaid: string[] = []

/** Two sides talk until neither has anything to say, as text. */
function conversation(
  name: string,
  dialling: Partial<HandshakeTerms>,
  listening: Partial<HandshakeTerms>,
  { dialled = LISTENER.address, change = (frame) => frame, isAlive = false }: Told = {},
): string {
  const { handshake: dialler, hello } = Handshake.dialler(termsOf(DIALLER, 1, dialling), dialled)
  const listener = Handshake.listener(termsOf(LISTENER, 2, listening))
  const lines = [`# ${name}`, `  dialler                  says ${frameText(hello)}`]
  const over = new Set<string>()
  let said: Outgoing | undefined = hello
  for (let side: Side = "listener"; said !== undefined && !over.has(side); side = otherOf(side)) {
    const frame: Outgoing = change(said)
    allSaid.push(textsOf(frame.fields ?? new Uint8Array()))
    let step = heard(side === "listener" ? listener : dialler, frame)
    allSaid.push(JSON.stringify({ ...step, peer: undefined }))
    const asks =
      step.kind === "confirm"
        ? `asks on the old connection, where ${isAlive ? "somebody" : "nobody"} answers: `
        : ""
    if (step.kind === "confirm") step = listener.confirmed(isAlive)
    lines.push(`  ${side.padEnd(8)} hears ${frameNames.get(frame.kind)?.padEnd(8)}  ${asks}${stepText(step)}`)
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
  const steps: HandshakeStep[] = []
  for (const side of [listener, dialler, listener, dialler]) {
    const step = heard(side, frames.at(-1) as Outgoing)
    steps.push(step)
    if (step.send === undefined) break
    frames.push(step.send)
    if (step.kind === "refused") break
  }
  return { dialler, listener, frames, steps }
}

/** The dialler's part as `docs/wire.md` describes it, and not as the code under test plays it. */
function byHand(dialled: string, store: string, listener: Handshake) {
  const hmac = (label: string, ...parts: Uint8Array[]) =>
    createHmac("sha256", KEY)
      .update(Buffer.concat([Buffer.from(`troupe ${label} 4\0`), ...parts]))
      .digest()
  const said = [
    Buffer.from("TRPE\x04"),
    asWritten(DIALLER.toString()),
    asWritten(dialled),
    Buffer.alloc(32, 9),
  ]
  const helloFields = Buffer.concat([...said, Buffer.of(1), hmac("hello", ...said)])
  const hello = heard(listener, { kind: HELLO, fields: helloFields })
  const welcome = hello.send?.fields ?? new Uint8Array()
  const both = Buffer.concat([helloFields, welcome.subarray(0, -32)])
  expect(Buffer.from(welcome.subarray(-32))).toEqual(hmac("listener", both))
  const limit = Buffer.of(0x80, 0x80, 0x40)
  const storeTag = hmac("store", both, Buffer.from(store))
  const own = Buffer.concat([asWritten("orders"), asWritten("troupe-binary-1"), storeTag, limit])
  const fields = Buffer.concat([own, hmac("dialler", both, own)])
  return { hello, proof: heard(listener, { kind: PROOF, fields }) }
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
    case "over":
    case "confirm":
      return step.kind
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
  for (const secret of [Buffer.from(KEY), OTHER_KEY]) {
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
