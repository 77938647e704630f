import { expect, it } from "vitest"
import { SeedSearch } from "./seed-search.js"

const ask = (...addresses: readonly string[]) => ({ kind: "ask", addresses })

it("asks every seed and contact but itself, again every second", () => {
  const search = new SeedSearch("b:1", ["a:1", "b:1"], ["c:1", "a:1"], 0)
  expect(search.tick(0)).toEqual(ask("a:1", "c:1"))
  expect(search.tick(999)).toBeUndefined()
  expect(search.tick(1_000)).toEqual(ask("a:1", "c:1"))
  expect(search.tick(60_000), "only the first seed forms a cluster").toEqual(ask("a:1", "c:1"))
})

it("has the first seed form a cluster after 5 s", () => {
  const search = new SeedSearch("a:1", ["a:1", "b:1"], [], 0)
  expect(search.tick(4_999)).toEqual(ask("b:1"))
  expect(search.tick(5_000)).toEqual({ kind: "found" })
})

it("has the only seed form a cluster at once, unless it knew others before", () => {
  expect(new SeedSearch("a:1", ["a:1"], [], 0).tick(0)).toEqual({ kind: "found" })
  const again = new SeedSearch("a:1", ["a:1"], ["b:1"], 0)
  expect(again.tick(0)).toEqual(ask("b:1"))
  expect(again.tick(60_000)).toEqual(ask("b:1"))
})

it("has a seed that knew others form a cluster once each of them is out for 5 s", () => {
  const search = new SeedSearch("a:1", ["a:1"], ["b:1", "c:1"], 0)
  search.tick(0)
  search.out("b:1")
  for (let now = 1_000; now <= 20_000; now += 1_000) {
    search.out("b:1")
    expect(search.tick(now), "c may live").toEqual(ask("b:1", "c:1"))
  }
  for (let now = 21_000; now <= 24_000; now += 1_000) {
    search.out("c:1")
    expect(search.tick(now)).toEqual(ask("b:1", "c:1"))
  }
  search.out("c:1")
  expect(search.tick(25_000), "b has not answered for a while").toEqual(ask("b:1", "c:1"))
  for (let now = 26_000; now <= 30_000; now += 1_000) {
    search.out("b:1")
    search.out("c:1")
    expect(search.tick(now)).toEqual(now < 30_000 ? ask("b:1", "c:1") : { kind: "found" })
  }
})

it("gives a cluster that has invited it time to answer", () => {
  const search = new SeedSearch("a:1", ["a:1", "b:1"], [], 0)
  search.invited(4_000)
  expect(search.tick(5_000)).toEqual(ask("b:1"))
  expect(search.tick(9_000)).toEqual({ kind: "found" })
})
