import { expect, test } from "vitest"
import type { Change } from "../../ports/store.js"
import { FeedWatches } from "./feed-watches.js"

const READ = { epoch: "e", begins: 10, through: 100, last: 200 }

function change(key: string, revision: number): Change {
  return { key, revision, value: new Uint8Array([1]) }
}

function recorded(watches: FeedWatches, prefix: string, revision: number, epoch = "e") {
  const calls: string[] = []
  const cancel = watches.add(
    prefix,
    { epoch, revision },
    {
      changed: (changes) => void calls.push(changes.map(({ key, revision: at }) => `${key}@${at}`).join(" ")),
      gap: () => void calls.push("gap"),
    },
  )
  return { calls, cancel }
}

test("each watch is told what is after its own moment, under its own prefix, each commit whole", () => {
  const watches = new FeedWatches()
  const [all, late, some] = [
    recorded(watches, "a", 10),
    recorded(watches, "a", 50),
    recorded(watches, "a/b", 10),
  ]
  expect(watches.after).toBe(10)
  watches.tell([[change("a/b", 20), change("a/c", 20)], [change("a/d", 60)]], READ)
  expect(all.calls).toEqual(["a/b@20 a/c@20", "a/d@60"])
  expect(late.calls).toEqual(["a/d@60"])
  expect(some.calls).toEqual(["a/b@20"])
  expect(watches.after).toBe(100)
})

test("a watch from another epoch, from before the log or from beyond the last revision receives a gap", () => {
  const watches = new FeedWatches()
  const broken = [recorded(watches, "a", 50, "f"), recorded(watches, "a", 9), recorded(watches, "a", 201)]
  watches.tell([[change("a", 20)]], READ)
  for (const { calls } of broken) expect(calls).toEqual(["gap"])
  expect(watches.size).toBe(0)
})

test("a watch from beyond what was read waits while the last revision is not known", () => {
  const watches = new FeedWatches()
  const { calls } = recorded(watches, "a", 150)
  watches.tell([[change("a", 60)]], { ...READ, last: undefined })
  watches.tell([[change("a", 160)]], { ...READ, through: 170, last: 200 })
  expect(calls).toEqual(["a@160"])
})

test("a watch that was cancelled is told nothing more, also by itself in a call", () => {
  const watches = new FeedWatches()
  const calls: string[] = []
  const cancel = watches.add(
    "a",
    { epoch: "e", revision: 10 },
    {
      changed: () => {
        calls.push("changed")
        cancel()
      },
      gap: () => {},
    },
  )
  watches.tell([[change("a", 20)], [change("a", 30)]], READ)
  expect(calls).toEqual(["changed"])
})
