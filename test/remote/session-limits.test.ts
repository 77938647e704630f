import { expect, test, vi } from "vitest"
import { ENVELOPE, NAME, TERMINATED, UNWATCH, WATCH, WATCHING } from "../../src/remote/frames.js"
import { Envelope, REQUEST, writeEnvelope } from "../../src/serialization/envelope.js"
import { OutputBuffer } from "../../src/serialization/output-buffer.js"
import { batchOf } from "./golden-connection.js"
import { HERE, startSession } from "./golden-session.js"

vi.mock("../../src/remote/frames.js", async (original) => ({
  ...(await original<object>()),
  MAX_OPEN_QUESTIONS: 3,
  MAX_WATCHES: 3,
}))

const ORDERS = `${HERE}/user/orders`

test("as many questions of one node may be open as the limit says; one that ends makes room", () => {
  const { connection, actors, tools } = startSession()
  const { handler } = connection
  handler.data(batchOf([NAME, numbered(0, ORDERS)]))
  const ask = (correlation: number) => handler.data(batchOf([ENVELOPE, question(correlation)]))
  for (const correlation of [1, 2, 3, 4]) ask(correlation)
  const asked = actors.get(ORDERS)?.questions ?? []
  expect(asked.map(({ reply }) => reply.correlation)).toEqual([1, 2, 3])
  tools.scheduler.endTurn()
  expect(connection.takeFrames().map(({ fields }) => [...fields.subarray(0, 2)])).toEqual([[3, 4]])
  for (const place of [1, 0]) asked[place]?.reply.tell("yes")
  for (const correlation of [5, 6, 7]) ask(correlation)
  expect(asked.map(({ reply }) => reply.correlation)).toEqual([1, 2, 3, 5, 6])
  for (let correlation = 10; correlation < 30; correlation += 1) {
    asked.at(-1)?.reply.tell("yes")
    ask(correlation)
    expect(asked.at(-1)?.reply.correlation).toBe(correlation)
  }
})

test("a node that watches more than the limit says is refused the rest; one that is taken back does not count", () => {
  const { connection, owner, tools, decoded } = startSession()
  const watch = (number: number) => connection.handler.data(batchOf([WATCH, numbered(number, ORDERS)]))
  for (const number of [1, 2, 3]) watch(number)
  connection.handler.data(batchOf([UNWATCH, Uint8Array.of(2)]))
  watch(4)
  expect(owner.closed).toEqual([])
  tools.scheduler.endTurn()
  connection.takeFrames()
  watch(5)
  tools.scheduler.endTurn()
  const [watching, terminated] = connection.takeFrames()
  expect([watching?.kind, terminated?.kind]).toEqual([WATCHING, TERMINATED])
  const [number, ...cause] = terminated?.fields ?? []
  expect(number).toBe(5)
  expect(decoded(Buffer.from(cause))).toMatchObject({ code: "Overloaded", capacity: 3 })
  connection.handler.data(batchOf([UNWATCH, Uint8Array.of(1)]))
  watch(6)
  tools.scheduler.endTurn()
  expect(connection.takeFrames().map(({ kind }) => kind)).toEqual([WATCHING])
  expect(owner.closed).toEqual([])
})

test("however different the times are that questions have left, they wait in few rings", () => {
  const { connection, actors, deadlines } = startSession()
  connection.handler.data(batchOf([NAME, numbered(0, ORDERS)]))
  for (let correlation = 1; correlation <= 3_000; correlation += 1) {
    connection.handler.data(batchOf([ENVELOPE, question(correlation, correlation ** 4)]))
    actors.get(ORDERS)?.questions.at(-1)?.reply.tell("yes")
  }
  expect(actors.get(ORDERS)?.questions).toHaveLength(3_000)
  expect(deadlines.rings).toBeLessThan(80)
})

function numbered(number: number, name: string): Buffer {
  const out = new OutputBuffer(64)
  out.varint(number)
  out.text(name)
  return out.bytes.subarray(0, out.at)
}

function question(correlation: number, timeLeftMs = 1_000): Buffer {
  const out = new OutputBuffer(32)
  writeEnvelope(out, Object.assign(new Envelope(), { direction: REQUEST, correlation, timeLeftMs }))
  out.u8(1)
  return out.bytes.subarray(0, out.at)
}
