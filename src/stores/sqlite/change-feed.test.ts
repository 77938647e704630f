import { expect, it } from "vitest"
import type { Change, Moment } from "../../ports/store.js"
import { ChangeFeed, type ChangeLog } from "./change-feed.js"

/** A log with one change for each revision, to the keys `a/1`, `b/2`, `a/3` and so on. */
class Log implements ChangeLog {
  epoch = "e"
  revision = 0
  begins = 0
  readings = 0

  moment(): Moment {
    return { epoch: this.epoch, revision: this.revision }
  }

  changes({ epoch, revision }: Moment, atMost: number) {
    this.readings += 1
    if (epoch !== this.epoch || revision > this.revision || revision < this.begins) return undefined
    const through = Math.min(this.revision, revision + atMost)
    const changes = Array.from({ length: through - revision }, (_, index): Change => {
      const at = revision + 1 + index
      return { key: `${at % 2 === 1 ? "a" : "b"}/${at}`, revision: at, value: undefined }
    })
    return { through, changes }
  }
}

function lines(feed: ChangeFeed, log: Log): string[] {
  return feed
    .next(log)
    .tidings.map((one) =>
      one.kind === "gap"
        ? `${one.id} gap`
        : `${one.id} ${one.commits.map((changes) => changes.map(({ key }) => key).join("+")).join(" ")}`,
    )
}

it("delivers to each watch the new changes that match its prefix, once", () => {
  const [feed, log] = [new ChangeFeed(), new Log()]
  log.revision = 3
  feed.add(1, "", { epoch: "e", revision: 0 })
  feed.add(2, "a/", { epoch: "e", revision: 0 })
  feed.add(3, "b/", { epoch: "e", revision: 2 })
  expect(lines(feed, log)).toEqual(["1 a/1 b/2 a/3", "2 a/1 a/3"])
  expect(lines(feed, log)).toEqual([])
  log.revision = 4
  expect(lines(feed, log)).toEqual(["1 b/4", "3 b/4"])
})

it("reads the log once for all watches at one position, and not at all if there is nothing new", () => {
  const [feed, log] = [new ChangeFeed(), new Log()]
  for (const id of [1, 2, 3]) feed.add(id, "", { epoch: "e", revision: 0 })
  feed.next(log)
  expect(log.readings).toBe(0)
  log.revision = 2
  feed.next(log)
  expect(log.readings).toBe(1)
})

it("ends a watch whose position is not in the log, or is of another epoch, with a gap", () => {
  const [feed, log] = [new ChangeFeed(), new Log()]
  log.revision = 10
  log.begins = 5
  feed.add(1, "", { epoch: "e", revision: 4 })
  feed.add(2, "", { epoch: "other", revision: 10 })
  feed.add(3, "", { epoch: "e", revision: 11 })
  feed.add(4, "b/", { epoch: "e", revision: 9 })
  expect(lines(feed, log)).toEqual(["1 gap", "2 gap", "3 gap", "4 b/10"])
  log.revision = 12
  expect(lines(feed, log)).toEqual(["4 b/12"])
  feed.remove(4)
  expect(feed.isEmpty).toBe(true)
})

it("delivers a long history in parts, and reports when there is more", () => {
  const [feed, log] = [new ChangeFeed(), new Log()]
  log.revision = 1_200
  feed.add(1, "", { epoch: "e", revision: 0 })
  const parts: [number, boolean][] = []
  for (let isBehind = true; isBehind; ) {
    const next = feed.next(log)
    isBehind = next.isBehind
    const [one] = next.tidings
    parts.push([one?.kind === "changed" ? one.commits.length : 0, isBehind])
  }
  expect(parts).toEqual([
    [500, true],
    [500, true],
    [200, false],
  ])
})

it("keeps the changes of one commit together", () => {
  const feed = new ChangeFeed()
  const change = (key: string, revision: number): Change => ({ key, revision, value: undefined })
  feed.add(1, "a", { epoch: "e", revision: 0 })
  const { tidings } = feed.next({
    moment: () => ({ epoch: "e", revision: 2 }),
    changes: () => ({
      through: 2,
      changes: [change("a1", 1), change("b", 1), change("a2", 1), change("a3", 2)],
    }),
  })
  expect(tidings).toEqual([
    { kind: "changed", id: 1, through: 2, commits: [[change("a1", 1), change("a2", 1)], [change("a3", 2)]] },
  ])
})
