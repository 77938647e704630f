import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { anyAddress, hostileText, writtenPath, writtenSegment } from "../../test/generate/names.js"
import vectors from "../../test/vectors/actor-path.json" with { type: "json" }
import { ActorPath } from "./actor-path.js"
import { ActorPathError } from "./actor-path-error.js"
import { Address } from "./address.js"

interface Vector {
  readonly input: string
  readonly error?: string
  readonly index?: number
  readonly position?: number
  readonly canonical?: string
}

describe("the vectors", () => {
  test.each(vectors as readonly Vector[])(
    "$input",
    ({ input, error, index, position, canonical, ...parts }) => {
      const path = ActorPath.tryParse(input)
      if (error !== undefined) {
        expect(path).toBeInstanceOf(ActorPathError)
        expect(path).toMatchObject({ code: error, ...(index === undefined ? {} : { index }) })
        if (position !== undefined) expect(path).toMatchObject({ position })
        expect(() => ActorPath.parse(input)).toThrow(ActorPathError)
      } else {
        expect(String(path)).toBe(canonical)
        for (const [name, value] of Object.entries(parts)) {
          expect(path).toHaveProperty(name, value ?? undefined)
        }
        expect(String(ActorPath.parse(String(path)))).toBe(canonical)
      }
    },
  )
})

describe("the parts of a path", () => {
  test.each([
    ["TROUPE.TCP://sys@Host.Example.COM:1/user/A", "troupe.tcp://sys@host.example.com:1/user/A"],
    ["troupe://sys@[0:0:0:0:0:0:0:1]:9/user/a", "troupe://sys@[::1]:9/user/a"],
    ["troupe://sys@[2001:DB8:0:0:1:0:0:1]/user/a", "troupe://sys@[2001:db8::1:0:0:1]/user/a"],
    ["troupe://sys@[::ffff:192.0.2.1]/user/a", "troupe://sys@[::ffff:c000:201]/user/a"],
    ["troupe://sys/us%65r/a", "troupe://sys/user/a"],
    ["troupe://sys/system", "troupe://sys/system"],
    ["troupe://sys/user/a%25b", "troupe://sys/user/a%25b"],
    ["troupe://sys/user/a#9007199254740991", "troupe://sys/user/a#9007199254740991"],
  ])("%s has the canonical form %s", (input, canonical) => {
    expect(ActorPath.parse(input).toString()).toBe(canonical)
  })

  test.each([
    ["troupe:/user/a", "InvalidSystem"],
    ["troupe:bad space", "InvalidSystem"],
    ["troupe:///user/a", "InvalidSystem"],
    ["troupe://[::1]/user/a", "InvalidSystem"],
    ["troupe://bad sys/user/a", "InvalidSystem"],
    ["troupe://sys:pw@host/user/a", "InvalidSystem"],
    ["troupe://sys:2552/user/a", "InvalidAuthority"],
    ["troupe://sys@host:/user/a", "InvalidAuthority"],
    ["troupe://sys@host:0/user/a", "InvalidAuthority"],
    ["troupe://sys@host:080/user/a", "InvalidAuthority"],
    ["troupe://sys@a..b/user/a", "InvalidAuthority"],
    ["troupe://sys@host-/user/a", "InvalidAuthority"],
    ["troupe://sys@a@b/user/a", "InvalidAuthority"],
    ["troupe://sys@[::1]x/user/a", "InvalidAuthority"],
    ["troupe://sys@[1::2::3]/user/a", "InvalidAuthority"],
    ["troupe://sys@[::1%25eth0]/user/a", "InvalidAuthority"],
    [`troupe://sys@${"a".repeat(256)}/user/a`, "InvalidAuthority"],
    ["http://sys/user/bad space", "InvalidScheme"],
    ["troupe://sys/user/a#", "InvalidUid"],
    ["troupe://sys/user/a#-1", "InvalidUid"],
    ["troupe://sys/user/a#1#2", "InvalidUid"],
    ["troupe://sys/user/a#01", "InvalidUid"],
    ["troupe://sys/user/a#9007199254740992", "InvalidUid"],
    ["troupe://sys/user/%2E%2E", "InvalidSegment"],
    ["troupe://sys/user/%24x", "InvalidSegment"],
    ["troupe://sys/user/(a)", "InvalidSegment"],
    ["troupe://sys/user/a%7F", "PercentDecode"],
    ["troupe://sys/user/caf%C3%A9", "PercentDecode"],
    ["troupe://sys?x=1", "InvalidUri"],
  ])("refuses %s: %s", (input, code) => {
    expect(ActorPath.tryParse(input)).toMatchObject({ code })
  })

  test.each([
    ["troupe://bad sys@host:1/user/a", 12],
    ["troupe://s%zz@host/user/a", 10],
    ["troupe://s[s@host/user/a", 10],
  ])("reports an invalid system name before a host: %s", (input, position) => {
    const cause = expect.objectContaining({ part: "user info", position })
    expect(ActorPath.tryParse(input)).toMatchObject({ code: "InvalidSystem", cause })
  })

  test.each(["a\u001b[2Jb", "a\nERROR forged", "[\u0085]", "\u2028", "[", "x".repeat(250).concat("!")])(
    "an error's message about the host %j is one short line of ASCII",
    (host) => {
      const error = Address.of({ system: "s", host })
      expect(error).toMatchObject({ code: "InvalidAuthority" })
      expect((error as ActorPathError).message).toMatch(/^[ -~]{1,200}$/)
    },
  )

  test("an error's message about a scheme is one short line of ASCII", () => {
    const error = Address.of({ scheme: `\u009b${"x".repeat(1_000)}`, system: "s" })
    expect((error as ActorPathError).message).toMatch(/^[ -~]{1,200}$/)
  })

  test("the cached address does not keep the parsed string in memory", () => {
    const before = heapBytes()
    for (let n = 0; n < 16; n += 1) {
      ActorPath.parse(`troupe://system-number-${n}/user/${"a".repeat(500_000)}`)
    }
    expect(heapBytes() - before).toBeLessThan(4_000_000)
  })

  test("reports the first invalid segment, counting an omitted guardian", () => {
    expect(ActorPath.tryParse("troupe://sys/a/b c/$d")).toMatchObject({ index: 2, position: 1 })
    expect(ActorPath.tryParse("troupe://sys/user/$d/b c")).toMatchObject({ index: 1, position: 0 })
    expect(ActorPath.tryParse("troupe://sys/user/a%20b%zz")).toMatchObject({ index: 1, position: 5 })
  })

  test("applies the same rules to the rest of a path with a cached address", () => {
    ActorPath.parse("troupe://known@host:1/user/a")
    for (const bad of [
      "/user/a b",
      "/user//a",
      "/user/$a",
      "/user/..",
      "/user/a?q",
      "/user/a#x",
      "/user/a/",
    ]) {
      expect(ActorPath.tryParse(`troupe://known@host:1${bad}`)).toBeInstanceOf(ActorPathError)
    }
    expect(ActorPath.parse("troupe://known@host:1/").path).toBe("/user")
    expect(ActorPath.parse("troupe://known@host:1/b%63").path).toBe("/user/bc")
  })

  test("accepts names that begin with $ only with runtimeNames", () => {
    expect(ActorPath.parse("troupe://s/user/$a/b", { runtimeNames: true }).segments).toEqual(["$a", "b"])
    expect(ActorPath.root({ system: "s" }).child("$a", { runtimeNames: true }).name).toBe("$a")
    expect(() => ActorPath.root({ system: "s" }).child("$a")).toThrow(/reserved for the runtime/)
  })
})

describe("a path is a value", () => {
  const path = ActorPath.parse("troupe.tcp://s@h:1/user/a/b%20c#7")

  test("equality, key and hash ignore uid and scheme", () => {
    for (const text of ["troupe.tcp://s@h:1/user/a/b%20c", "pekko://s@H:1/a/b%20c#8"]) {
      const other = ActorPath.parse(text)
      expect(path.equals(other)).toBe(true)
      expect(path.key).toBe(other.key)
      expect(path.hash).toBe(other.hash)
    }
  })

  test.each([
    "troupe.tcp://t@h:1/user/a/b%20c",
    "troupe.tcp://s@h:2/user/a/b%20c",
    "troupe.tcp://s@h:1/user/a",
  ])("is not equal to %s", (text) => {
    const other = ActorPath.parse(text)
    expect(path.equals(other)).toBe(false)
    expect(path.key).not.toBe(other.key)
    expect(path.hash).not.toBe(other.hash)
  })

  test("the hash is pinned", () => {
    expect(ActorPath.parse("troupe://prod/user/greeter").hash).toBe(PINNED_HASH)
  })

  test("paths are of the same incarnation unless their uids differ", () => {
    expect(path.sameIncarnation(path.withUid(8))).toBe(false)
    expect(path.sameIncarnation(path.withUid(undefined))).toBe(true)
  })

  test("children and parents do not inherit the uid", () => {
    expect(String(path.child("d"))).toBe("troupe.tcp://s@h:1/user/a/b%20c/d")
    expect(String(path.parent)).toBe("troupe.tcp://s@h:1/user/a")
    expect(ActorPath.root({ system: "s" }).parent).toBeUndefined()
    expect(path.name).toBe("b c")
  })

  test("child checks the name, and its error counts segments from the guardian", () => {
    expect(() => path.child("x y")).toThrow(
      expect.objectContaining({ code: "InvalidSegment", index: 3, position: 1 }),
    )
    expect(() => path.child("x/y")).toThrow(expect.objectContaining({ code: "InvalidSegment", index: 3 }))
    expect(() => path.child("")).toThrow(expect.objectContaining({ code: "InvalidSegment", index: 3 }))
  })

  test("withUid requires a positive integer", () => {
    for (const uid of [0, -1, 1.5, Number.NaN, 2 ** 53])
      expect(() => path.withUid(uid)).toThrow(/positive integer/)
  })

  test("under changes only the address", () => {
    const address = Address.of({ system: "s" })
    expect(String(path.under(address as Address))).toBe("troupe://s/user/a/b%20c#7")
  })

  test("prints and serializes as its string form", () => {
    expect(JSON.stringify({ path })).toBe('{"path":"troupe.tcp://s@h:1/user/a/b%20c#7"}')
    expect(`${path}`).toBe(path.toString())
  })
})

describe("for any input", () => {
  test("parse and format are inverse", () => {
    fc.assert(
      fc.property(writtenPath, (text) => {
        const path = ActorPath.parse(text)
        const again = ActorPath.parse(path.toString())
        expect(again.toString()).toBe(path.toString())
        expect(again.equals(path)).toBe(true)
        expect(again.uid).toBe(path.uid)
        expect(again.segments).toEqual(path.segments)
      }),
      { numRuns: 2_000 },
    )
  })

  test("child gives what parsing the longer string gives", () => {
    fc.assert(
      fc.property(anyAddress, fc.array(writtenSegment, { minLength: 1, maxLength: 5 }), (address, names) => {
        const child = names.reduce((path, name) => path.child(name), ActorPath.root(address))
        expect(child.toString()).toBe(
          ActorPath.parse(`${ActorPath.root(address)}/${names.join("/")}`).toString(),
        )
      }),
    )
  })

  test("parsing a hostile string gives a path or an ActorPathError", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const path = ActorPath.tryParse(text)
        if (path instanceof ActorPathError) expect(path.message.length).toBeLessThan(1_000)
        else expect(ActorPath.parse(path.toString()).equals(path)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })
})

/** Returns the size of the heap after a garbage collection. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}

/** FNV-1a of "prod/user/greeter", computed independently of this code. */
const PINNED_HASH = 2_407_781_667
