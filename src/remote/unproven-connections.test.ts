import { describe, expect, test } from "vitest"
import { sourceOf, UnprovenConnections } from "./unproven-connections.js"

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

  test("that have greeted are not sent away, where they are no more than half", () => {
    expect(story(4, ["a1", "a2", "b1", "c1", "!a1", "!a2", "b2", "c2", "d1"]).slice(4)).toEqual([
      ...["-b1", "+b2"],
      ...["-c1", "+c2"],
      ...["-b2", "+d1"],
    ])
  })

  test("that have greeted make way, the oldest first, where they are more than half and of one source", () => {
    expect(story(3, ["a1", "a2", "a3", "!a1", "!a2", "!a3", "b1", "c1", "c2"]).slice(3)).toEqual([
      ...["-a1", "+b1"],
      ...["-a2", "+c1"],
      ...["-c1", "+c2"],
    ])
    expect(story(4, ["a1", "a2", "b1", "b2", "!a1", "!a2", "!b1", "!b2", "c1"]).slice(4)).toEqual([])
  })

  test("of a source of which more than half have greeted send away nobody but their own", () => {
    expect(story(4, ["a1", "a2", "a3", "b1", "!a1", "!a2", "!a3", "a4", "a5"]).slice(4)).toEqual([])
    expect(story(5, ["a1", "a2", "a3", "a4", "b1", "!a1", "!a2", "!a3", "a5"]).slice(5)).toEqual([
      "-a4",
      "+a5",
    ])
  })

  test("of another source get in though one source has all the places, and all of those that wait", () => {
    const greeted = Array.from({ length: 512 }, (_, n) => [`a${n}`, `!a${n}`]).flat()
    const waiting = Array.from({ length: 512 }, (_, n) => `aw${n}`)
    expect(story(512, [...greeted, ...waiting, "b1", "ax"]).slice(512)).toEqual(["-a0", "+b1", "-ax"])
  })

  test("that greet with the nonce of one who is here are not greeted, until that one is gone", () => {
    const strangers = new UnprovenConnections<string>(3)
    for (const name of ["a", "b", "c"]) strangers.arrived(name, name)
    expect(strangers.admitHello("a", "nonce")).toBe(true)
    expect(strangers.admitHello("b", "nonce")).toBe(false)
    expect(strangers.admitHello("b", "another")).toBe(true)
    strangers.left("b")
    expect(strangers.admitHello("c", "nonce")).toBe(false)
    strangers.left("a")
    expect(strangers.admitHello("c", "nonce")).toBe(true)
  })

  test("wait where all others have greeted, and are let in one for each that goes, in order", () => {
    expect(story(2, ["a1", "d1", "!a1", "!d1", "b1", "c1", "?d1", "!b1", "?a1"])).toEqual([
      "+a1",
      "+d1",
      "+b1",
      "+c1",
    ])
  })

  test("wait in numbers that are bounded too", () => {
    expect(story(2, ["a1", "d1", "!a1", "!d1", "b1", "b2", "b3"]).slice(2)).toEqual(["-b3"])
  })

  test("that wait may go", () => {
    expect(story(2, ["a1", "d1", "!a1", "!d1", "b1", "c1", "?b1", "?a1"])).toEqual(["+a1", "+d1", "+c1"])
  })

  test("that are gone leave nothing behind", () => {
    const strangers = new UnprovenConnections<string>(2)
    for (const name of ["a", "b"]) strangers.arrived(name, "1.1.1.1")
    strangers.admitHello("a", "nonce of a")
    for (const name of ["a", "b", "b", "never there"]) expect(strangers.left(name)).toEqual([])
    strangers.admitHello("b", "nonce of b")
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
  const strangers = new UnprovenConnections<string>(most)
  return events.flatMap((event) => {
    const name = event.slice(1)
    if (event.startsWith("!")) strangers.admitHello(name, `nonce of ${name}`)
    if (event.startsWith("!")) return []
    const commands = event.startsWith("?") ? strangers.left(name) : strangers.arrived(event, event.charAt(0))
    return commands.map(({ kind, connection }) => `${kind === "admit" ? "+" : "-"}${connection}`)
  })
}
