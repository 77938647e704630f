import { expect, test } from "vitest"
import { FakeCall } from "../../test/virtual/fake-activation.js"
import { Actor } from "./actor.js"
import { ActorType } from "./actor-type.js"
import { isAwaited, isCyclic, isInterleaved, kindOf, mayStart, type RunningTurns } from "./turn-order.js"

class Ledger extends Actor {
  static readonly methods = { read: { readOnly: true }, peek: { alwaysInterleave: true } }
  write() {}
  read() {}
  peek() {}
}

class Reentrant extends Actor {
  static readonly reentrant = true
  write() {}
}

class Plain extends Actor {
  write() {}
}

const KEY = "Ledger/one"

function turns(make: new () => Actor, running: Partial<RunningTurns> = {}): RunningTurns {
  const { writer, readers = 0 } = running
  const isBusy = writer !== undefined || readers > 0
  return { type: new ActorType(make as never), key: KEY, isBusy, writer, readers, ...running }
}

const [write, read, peek] = ["write", "read", "peek"].map((method) => new FakeCall(method))
const awaited = new FakeCall("write", { chain: ["Other/a", KEY] })

test.each([
  ["write", "writer"],
  ["read", "reader"],
  ["peek", "interleaved"],
  ["unknown", "writer"],
])("a call of %s is a turn of kind %s", (method, kind) => {
  expect(kindOf(turns(Ledger), new FakeCall(method))).toBe(kind)
})

test("a writer starts only alone, a reader also beside other readers", () => {
  const found = [{}, { readers: 2 }, { writer: {} }].map((running) => [
    mayStart(turns(Ledger, running), write as FakeCall),
    mayStart(turns(Ledger, running), read as FakeCall),
  ])
  expect(found).toEqual([
    [true, true],
    [false, true],
    [false, false],
  ])
})

test("an interleaved turn does not prevent a writer from starting", () => {
  expect(mayStart(turns(Ledger, { isBusy: true }), write as FakeCall)).toBe(true)
})

test("a message is awaited if its chain contains the actor and a turn is running", () => {
  expect(isAwaited(turns(Plain, { writer: {} }), awaited)).toBe(true)
  expect(isAwaited(turns(Plain), awaited)).toBe(false)
  expect(isAwaited(turns(Plain, { writer: {} }), new FakeCall("write", { chain: ["Other/a"] }))).toBe(false)
})

test("awaited messages of a reentrant type and alwaysInterleave methods are interleaved, and no others", () => {
  const running = { writer: {} }
  expect(isInterleaved(turns(Reentrant, running), awaited)).toBe(true)
  expect(isInterleaved(turns(Reentrant), awaited)).toBe(false)
  expect(isInterleaved(turns(Plain, running), awaited)).toBe(false)
  expect(isInterleaved(turns(Ledger, running), peek as FakeCall)).toBe(true)
  expect(isInterleaved(turns(Ledger, running), read as FakeCall)).toBe(false)
})

test("a call that returns to its actor is cyclic, unless it may interleave or is one-way", () => {
  const back = (method: string, isOneWay = false) => new FakeCall(method, { chain: [KEY], isOneWay })
  expect(isCyclic(turns(Ledger), back("write"))).toBe(true)
  expect(isCyclic(turns(Ledger), back("read"))).toBe(true)
  expect(isCyclic(turns(Ledger), back("peek"))).toBe(false)
  expect(isCyclic(turns(Ledger), back("write", true))).toBe(false)
  expect(isCyclic(turns(Reentrant), back("write"))).toBe(false)
  expect(isCyclic(turns(Ledger), new FakeCall("write", { chain: ["Other/a"] }))).toBe(false)
})
