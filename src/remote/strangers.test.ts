import { describe, expect, test } from "vitest"
import { Strangers, sourceOf } from "./strangers.js"

describe("strangers", () => {
  test("are let in up to the limit", () => {
    expect(story(3, ["a1", "a2", "b1"])).toEqual(["+a1", "+a2", "+b1"])
  })

  test("of the busiest source go first, and of these the oldest", () => {
    expect(story(4, ["b1", "a1", "a2", "a3", "b2", "c1", "d1"])).toEqual([
      ...["+b1", "+a1", "+a2", "+a3"],
      ...["-a1", "+b2"],
      ...["-b1", "+c1"],
      ...["-a2", "+d1"],
    ])
  })

  test("crowd out those of their own source: a flood leaves the others alone", () => {
    const honest = Array.from({ length: 5 }, (_, index) => `h${index}`)
    const flood = Array.from({ length: 1_000 }, (_, index) => `f${index}`)
    const told = story(10, [...honest, ...flood])
    expect(told.filter((line) => line.startsWith("-h"))).toEqual([])
    expect(told.filter((line) => line.startsWith("-f"))).toHaveLength(995)
    expect(told.at(-1)).toBe("+f999")
  })

  test("are counted together with the newcomer", () => {
    expect(story(4, ["a1", "a2", "b1", "b2", "b3"]).slice(4)).toEqual(["-b1", "+b3"])
  })

  test("that have greeted are never sent away, however many come from there", () => {
    expect(story(3, ["a1", "a2", "b1", "!a1", "!a2", "a3", "a4"]).slice(3)).toEqual([
      ...["-b1", "+a3"],
      ...["-a3", "+a4"],
    ])
  })

  test("wait where all others have greeted, and are let in one for each that goes, in order", () => {
    expect(story(2, ["a1", "a2", "!a1", "!a2", "b1", "c1", "?a2", "!b1", "?a1"])).toEqual([
      "+a1",
      "+a2",
      "+b1",
      "+c1",
    ])
  })

  test("wait in numbers that are bounded too", () => {
    expect(story(2, ["a1", "a2", "!a1", "!a2", "b1", "b2", "b3"]).slice(2)).toEqual(["-b3"])
  })

  test("that wait may go", () => {
    expect(story(2, ["a1", "a2", "!a1", "!a2", "b1", "c1", "?b1", "?a1"])).toEqual(["+a1", "+a2", "+c1"])
  })

  test("that are gone leave nothing behind", () => {
    const strangers = new Strangers<string>(2)
    for (const name of ["a", "b"]) strangers.arrived(name, "1.1.1.1")
    strangers.greeted("a")
    for (const name of ["a", "b", "b", "never there"]) expect(strangers.left(name)).toEqual([])
    strangers.greeted("b")
    expect([strangers.size, strangers.has("a")]).toEqual([0, false])
  })
})

test.each([
  ["10.0.0.1", "10.0.0.1"],
  ["::ffff:10.0.0.1", "::ffff:10.0.0.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::9", "2001:db8:1:2"],
  ["2001:db8::9", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::", "fe80:0:0:0"],
  ["unknown", "unknown"],
])("%s comes from %s", (host, source) => {
  expect(sourceOf(host)).toBe(source)
})

/** `a1` comes from `a`; `!a1` has greeted; `?a1` is gone. Tells who was let in and who was sent away. */
function story(most: number, events: readonly string[]): string[] {
  const strangers = new Strangers<string>(most)
  return events.flatMap((event) => {
    const name = event.slice(1)
    if (event.startsWith("!")) strangers.greeted(name)
    if (event.startsWith("!")) return []
    const commands = event.startsWith("?") ? strangers.left(name) : strangers.arrived(event, event.charAt(0))
    return commands.map(({ kind, stranger }) => `${kind === "admit" ? "+" : "-"}${stranger}`)
  })
}
