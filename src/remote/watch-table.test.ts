import { expect, test } from "vitest"
import { remoteRef } from "../../test/remote/golden-session.js"
import type { Watcher } from "../actor/internal-ref.js"
import type { Terminated } from "../actor/signals.js"
import { NodeId } from "../address/node-id.js"
import { WatchTable } from "./watch-table.js"

const node = NodeId.of("b.test", 2552, "00000000000000b1")
const nextLife = NodeId.of("b.test", 2552, "00000000000000b2")

test("the other node is told of an actor once, however many watch it, and when the last has enough", () => {
  const table = new WatchTable()
  const ref = remoteRef("cart")
  const [one, two] = [new RecordingWatcher(), new RecordingWatcher()]
  expect(table.add(ref, one)).toMatchObject({ number: 1, path: ref.path })
  expect(table.add(ref, two)).toBeUndefined()
  expect(table.size).toBe(1)
  expect(table.remove(ref, one)).toBeUndefined()
  expect(table.remove(ref, one)).toBeUndefined()
  expect(table.remove(ref, two)).toBe(1)
  expect(table.remove(ref, two)).toBeUndefined()
  expect(table.size).toBe(0)
})

test("a number is never used twice: what the other node says late is about the old watch", () => {
  const table = new WatchTable()
  const ref = remoteRef("cart")
  const watcher = new RecordingWatcher()
  table.add(ref, watcher)
  table.remove(ref, watcher)
  expect(table.add(ref, watcher)?.number).toBe(2)
  table.terminated(1, undefined)
  expect(watcher.signals).toEqual([])
})

test("when the actor ends all who watch are told, with the ref they watch and the cause, and it is over", () => {
  const table = new WatchTable()
  const ref = remoteRef("cart")
  const watchers = [new RecordingWatcher(), new RecordingWatcher()]
  for (const watcher of watchers) table.add(ref, watcher)
  const cause = new Error("out of stock")
  table.terminated(1, cause)
  table.terminated(1, cause)
  for (const { signals } of watchers) {
    expect(signals.length).toBe(1)
    expect(signals[0]?.ref).toBe(ref)
    expect(signals[0]?.cause).toBe(cause)
  }
  expect(table.size).toBe(0)
})

test("a new connection is told of everything again, by the incarnation that was found", () => {
  const table = new WatchTable()
  const [found, unseen, guardian] = [remoteRef("found"), remoteRef("unseen"), remoteRef("guardian")]
  for (const ref of [found, unseen, guardian]) table.add(ref, new RecordingWatcher())
  table.found(1, node, 77)
  table.found(3, node, 0)
  table.found(9, node, 5)
  const told = table.connected(node).map(({ number, path }) => `${number} ${path}`)
  expect(told).toEqual([`1 ${found.path}#77`, `2 ${unseen.path}`, `3 ${guardian.path}`])
})

test("the incarnation that was found first stays, also where a later one has the name", () => {
  const table = new WatchTable()
  const ref = remoteRef("cart")
  table.add(ref, new RecordingWatcher())
  table.found(1, node, 77)
  table.found(1, node, 78)
  expect(table.connected(node).map(({ path }) => String(path))).toEqual([`${ref.path}#77`])
})

test("those whose node has been restarted are gone; those that were never found are looked for", () => {
  const table = new WatchTable()
  const [found, unseen] = [new RecordingWatcher(), new RecordingWatcher()]
  table.add(remoteRef("found"), found)
  table.add(remoteRef("unseen"), unseen)
  table.found(1, node, 77)
  expect(table.connected(nextLife).map(({ number }) => number)).toEqual([2])
  expect([found.signals.length, unseen.signals.length]).toEqual([1, 0])
  expect(table.size).toBe(1)
})

test("giving up ends all watches, and a watcher that watches again then is not notified twice", () => {
  const table = new WatchTable()
  const again = remoteRef("again")
  const cause = new Error("its node is gone")
  const watcher: Watcher & { told: number } = {
    told: 0,
    terminated() {
      this.told += 1
      table.add(again, this)
    },
  }
  table.add(remoteRef("one"), watcher)
  table.add(remoteRef("two"), watcher)
  table.giveUp(cause)
  expect(watcher.told).toBe(2)
  expect(table.connected(node).map(({ path }) => String(path))).toEqual([String(again.path)])
})

test("a node that is gone ends the watches that it has answered, and those without an answer if it is asked to", () => {
  const table = new WatchTable()
  const [here, next, unanswered] = ["here", "next", "unanswered"].map(() => new RecordingWatcher()) as [
    RecordingWatcher,
    RecordingWatcher,
    RecordingWatcher,
  ]
  table.add(remoteRef("here"), here)
  table.add(remoteRef("next"), next)
  table.add(remoteRef("unanswered"), unanswered)
  table.found(1, node, 77)
  table.found(2, nextLife, 78)
  const cause = new Error("removed")
  table.gone(node, cause, { areUnanswered: false })
  expect(here.signals.map((signal) => signal.cause)).toEqual([cause])
  expect([...next.signals, ...unanswered.signals]).toEqual([])
  table.gone(node, cause, { areUnanswered: true })
  expect(unanswered.signals.map((signal) => signal.cause)).toEqual([cause])
  expect([here.signals.length, next.signals.length, table.size]).toEqual([1, 0, 1])
})

class RecordingWatcher implements Watcher {
  readonly signals: Terminated[] = []

  terminated(signal: Terminated): void {
    this.signals.push(signal)
  }
}
