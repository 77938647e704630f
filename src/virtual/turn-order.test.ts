import { expect, test } from "vitest"
import { FakeCall } from "../../test/virtual/fake-activation.js"
import { Actor } from "./actor.js"
import { ActorType } from "./actor-type.js"
import {
  isAwaited,
  isInterleaved,
  kindOf,
  mayStart,
  type RunningTurns,
  waitsForItself,
} from "./turn-order.js"

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
])("%s is a turn of the kind %s", (method, kind) => {
  expect(kindOf(turns(Ledger), new FakeCall(method))).toBe(kind)
})

test("a writer starts alone; a reader beside readers", () => {
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

test("an interleaved turn keeps nobody from starting", () => {
  expect(mayStart(turns(Ledger, { isBusy: true }), write as FakeCall)).toBe(true)
})

test("a message is awaited by a running turn whose actor is in its chain", () => {
  expect(isAwaited(turns(Plain, { writer: {} }), awaited)).toBe(true)
  expect(isAwaited(turns(Plain), awaited)).toBe(false)
  expect(isAwaited(turns(Plain, { writer: {} }), new FakeCall("write", { chain: ["Other/a"] }))).toBe(false)
})

test("only what is awaited, in a reentrant type, and what always interleaves waits for no other turn", () => {
  const running = { writer: {} }
  expect(isInterleaved(turns(Reentrant, running), awaited)).toBe(true)
  expect(isInterleaved(turns(Reentrant), awaited)).toBe(false)
  expect(isInterleaved(turns(Plain, running), awaited)).toBe(false)
  expect(isInterleaved(turns(Ledger, running), peek as FakeCall)).toBe(true)
  expect(isInterleaved(turns(Ledger, running), read as FakeCall)).toBe(false)
})

test("a call that comes back waits for itself, unless it may interleave or nobody waits for it", () => {
  const back = (method: string, isOneWay = false) => new FakeCall(method, { chain: [KEY], isOneWay })
  expect(waitsForItself(turns(Ledger), back("write"))).toBe(true)
  expect(waitsForItself(turns(Ledger), back("read"))).toBe(true)
  expect(waitsForItself(turns(Ledger), back("peek"))).toBe(false)
  expect(waitsForItself(turns(Ledger), back("write", true))).toBe(false)
  expect(waitsForItself(turns(Reentrant), back("write"))).toBe(false)
  expect(waitsForItself(turns(Ledger), new FakeCall("write", { chain: ["Other/a"] }))).toBe(false)
})
