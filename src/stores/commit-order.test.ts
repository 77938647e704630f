import fc from "fast-check"
import { expect, it } from "vitest"
import { CommitOrder } from "./commit-order.js"

interface Commit {
  readonly name: string
  readonly conditions: readonly { readonly key: string }[]
  readonly writes: readonly { readonly key: string }[]
  readonly reads?: readonly string[] | undefined
}

it("lets commits that only read the same key travel together, and a writer wait for all of them", () => {
  const order = new CommitOrder<Commit>((each) => each)
  const [one, two] = [commit("one", ["node"], ["a"]), commit("two", ["node"], ["b"])]
  const [down, three] = [commit("down", [], ["node"]), commit("three", ["node"], ["c"])]
  expect([one, two, down, three].map((each) => order.add(each))).toEqual([true, true, false, false])
  expect(order.finish(two)).toEqual([])
  expect(order.finish(one)).toEqual([down])
  expect(order.finish(down)).toEqual([three])
})

it("keeps commits to one key in their order, one at a time", () => {
  const order = new CommitOrder<Commit>((each) => each)
  const commits = ["1", "2", "3"].map((name) => commit(name, ["a"], ["a"]))
  expect(commits.map((each) => order.add(each))).toEqual([true, false, false])
  expect(order.finish(commits[0] as Commit)).toEqual([commits[1]])
  expect(order.finish(commits[1] as Commit)).toEqual([commits[2]])
})

it("never has two commits in flight that conflict, keeps their order, and sends all of them", () => {
  const key = fc.constantFrom("a", "b", "c", "d")
  const keys = fc.uniqueArray(key)
  const drawn = fc.array(fc.tuple(keys, keys, keys, fc.nat()), { maxLength: 25 })
  fc.assert(
    fc.property(drawn, (parts) => {
      const order = new CommitOrder<Commit>((each) => each)
      const commits = parts.map(([conditions, writes, reads], index): Commit => {
        return {
          ...commit(`${index}`, conditions, writes),
          reads: reads.filter((each) => !writes.includes(each)),
        }
      })
      const inFlight: Commit[] = []
      const finished: Commit[] = []
      const send = (each: Commit) => {
        for (const other of inFlight) expect(conflict(each, other)).toBe(false)
        for (const other of commits.slice(0, commits.indexOf(each))) {
          if (conflict(each, other)) expect(finished).toContain(other)
        }
        inFlight.push(each)
      }
      const finish = (choice: number) => {
        const [each] = inFlight.splice(choice % inFlight.length, 1)
        if (each === undefined) return
        finished.push(each)
        for (const next of order.finish(each)) send(next)
      }
      for (const [index, each] of commits.entries()) {
        if (order.add(each)) send(each)
        const choice = parts[index]?.[3] ?? 0
        if (choice % 3 === 0) finish(choice)
      }
      while (inFlight.length > 0) finish(0)
      expect(finished.length).toBe(commits.length)
    }),
  )
})

it("does not send a commit that was given up while it waited, nor one behind it before its time", () => {
  const order = new CommitOrder<Commit>((each) => each)
  const [one, two, three] = ["1", "2", "3"].map((name) => commit(name, [], ["a"])) as [Commit, Commit, Commit]
  for (const each of [one, two, three]) order.add(each)
  expect(order.finish(two)).toEqual([])
  expect(order.finish(one)).toEqual([three])
  expect(order.finish(three)).toEqual([])
  expect(order.add(one)).toBe(true)
})

function commit(name: string, conditions: readonly string[], writes: readonly string[]): Commit {
  return { name, conditions: conditions.map((key) => ({ key })), writes: writes.map((key) => ({ key })) }
}

function conflict(one: Commit, other: Commit): boolean {
  const touches = ({ conditions, writes, reads = [] }: Commit, key: string) =>
    [...conditions, ...writes].some((each) => each.key === key) || reads.includes(key)
  return (
    one.writes.some(({ key }) => touches(other, key)) || other.writes.some(({ key }) => touches(one, key))
  )
}
