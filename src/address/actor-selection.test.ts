import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { writtenPattern, writtenSegment } from "../../test/generate/names.js"
import vectors from "../../test/vectors/relative.json" with { type: "json" }
import { ActorPath } from "./actor-path.js"
import { ActorPathError } from "./actor-path-error.js"
import { ActorSelection } from "./actor-selection.js"
import type { Address } from "./address.js"

const base = ActorPath.parse("troupe://s/user/worker#7")
const at = (text: string) => ActorPath.parse(text, { runtimeNames: true })

describe("the vectors", () => {
  test.each(vectors as { base: string; expression: string; result?: string; error?: string }[])(
    "$base and $expression",
    ({ base, expression, result, error }) => {
      const resolve = () => ActorSelection.resolve(ActorPath.parse(base), expression)
      if (error !== undefined) expect(resolve).toThrow(expect.objectContaining({ code: error }))
      else expect(String(resolve())).toBe(result)
    },
  )
})

test.each([
  ["/worker", "troupe://s/user/worker"],
  ["/", "troupe://s/user"],
  ["/user", "troupe://s/user"],
  ["./a/./b", "troupe://s/user/worker/a/b"],
  ["a/../b", "troupe://s/user/worker/b"],
  ["../worker", "troupe://s/user/worker"],
  ["", "troupe://s/user/worker#7"],
  ["child#9", "troupe://s/user/worker/child#9"],
  ["caf%65", "troupe://s/user/worker/cafe"],
  ["troupe.tcp://t@h:1/system/log", "troupe.tcp://t@h:1/system/log"],
  ["troupe.tcp://t@h:1/a/../b", "troupe.tcp://t@h:1/user/b"],
  ["troupe.tcp://t@h:1", "troupe.tcp://t@h:1/user"],
  ["troupe://s/us%65r/a", "troupe://s/user/a"],
  ["/s%79stem/log", "troupe://s/system/log"],
  ["/us%65r", "troupe://s/user"],
])("%s resolves to %s", (expression, result) => {
  expect(String(ActorSelection.resolve(base, expression))).toBe(result)
})

test.each([
  ["/..", "RelativeEscape"],
  ["/user/..", "RelativeEscape"],
  ["a/../../..", "RelativeEscape"],
  ["troupe://t/user/..", "RelativeEscape"],
  ["a//b", "InvalidSegment"],
  ["a/", "InvalidSegment"],
  ["/user/", "InvalidSegment"],
  ["%2E%2E/b", "InvalidSegment"],
  ["b?", "InvalidSegment"],
  ["$a", "InvalidSegment"],
  ["a#x", "InvalidUid"],
  ["nope://t/user/a", "InvalidScheme"],
  ["troupe://sys?x/user/a", "InvalidUri"],
  ["troupe://sys?", "InvalidUri"],
])("refuses %s: %s", (expression, code) => {
  expect(() => ActorSelection.resolve(base, expression)).toThrow(expect.objectContaining({ code }))
})

test("accepts a base with a name of the runtime", () => {
  expect(String(ActorSelection.resolve(at("troupe://s/user/$a/b"), "../c"))).toBe("troupe://s/user/$a/c")
  expect(ActorSelection.of(at("troupe://s/user/$a"), "*").matches(at("troupe://s/user/$a/b"))).toBe(true)
})

test("reports an invalid step with its index from the guardian", () => {
  const wrong = expect.objectContaining({ code: "InvalidSegment", index: 3, position: 1 })
  for (const bad of ["x/b c", "../x/../x/y/b c", "/us%65r/x/y/b c", "/x/y/b c"])
    expect(() => ActorSelection.resolve(base, bad)).toThrow(wrong)
  for (const bad of ["x/b c", "*/b c", "*/b *", "?/x/../b c", "*/b%", "x/b%*4"])
    expect(() => ActorSelection.of(base, bad)).toThrow(expect.objectContaining({ index: 3, position: 1 }))
})

test("steps cost the same at any depth", () => {
  const deep = at(`troupe://s/user${"/a".repeat(150_000)}`)
  const expression = "../a/".repeat(150_000)
  expect(ActorSelection.resolve(deep, `${expression}b`).equals(deep.child("b"))).toBe(true)
  expect(ActorSelection.of(deep, `${expression}b`).anchor.equals(deep.child("b"))).toBe(true)
})

describe("wildcards", () => {
  test.each([
    ["*", "troupe://s/user/worker/a", true],
    ["*", "troupe://s/user/worker/$a", true],
    ["*", "troupe://s/user/worker/a/b", false],
    ["*", "troupe://s/user/worker", false],
    ["*/*/*/*/*", "troupe://s/user/worker/a", false],
    ["../w*r", "troupe://s/user/worker", true],
    ["../w*r", "troupe://s/user/workers", false],
    ["../*/log-??", "troupe://s/user/x/log-42", true],
    ["../*/log-??", "troupe://s/user/x/log-4", false],
    ["../*/log-??", "troupe://t/user/x/log-42", false],
    ["../*/log-??", "troupe://s/system/x/log-42", false],
    ["/system/*a*b*", "troupe://s/system/xaxbx", true],
    ["/system/*a*b*", "troupe://s/system/xbxax", false],
    ["plain", "troupe://s/user/worker/plain#3", true],
    ["plain#4", "troupe://s/user/worker/plain#3", false],
  ])("%s matches %s: %s", (expression, path, expected) => {
    expect(ActorSelection.of(base, expression).matches(at(path))).toBe(expected)
  })

  test("the anchor is the path before the first wildcard", () => {
    const selection = ActorSelection.of(base, "../a/b*/c")
    expect(String(selection.anchor)).toBe("troupe://s/user/a")
    expect(selection.patterns).toEqual(["b*", "c"])
    expect(String(selection)).toBe("troupe://s/user/a/b*/c")
  })

  test("a pattern follows the rules of a name", () => {
    for (const bad of ["*/b c", "*/$x", "*//a"])
      expect(() => ActorSelection.of(base, bad)).toThrow(ActorPathError)
  })

  test("patterns are in canonical form", () => {
    const selection = ActorSelection.of(base, "%62*/c%61/%2a?%3f%20")
    expect(selection.patterns).toEqual(["b*", "ca", "%2A?%3F%20"])
    expect(selection.matches(at("troupe://s/user/worker/bob/ca/*x%3F%20"))).toBe(true)
    expect(selection.matches(at("troupe://s/user/worker/bob/ca/xx%3F%20"))).toBe(false)
  })

  test("an escaped wildcard is an ordinary character, also in the anchor", () => {
    const selection = ActorSelection.of(base, "a%2A/b*")
    expect(String(selection.anchor)).toBe("troupe://s/user/worker/a*")
    expect(String(selection)).toBe("troupe://s/user/worker/a%2A/b*")
  })

  test("refuses a uid in an expression with a pattern", () => {
    for (const bad of ["*#7", "*/a#7", "troupe://s/user/a?#7"])
      expect(() => ActorSelection.of(base, bad)).toThrow(expect.objectContaining({ code: "InvalidUid" }))
    expect(ActorSelection.of(base, "*/../a#7").anchor.uid).toBe(7)
  })

  test("parsing the string form gives an equal selection", () => {
    const step = fc.oneof(writtenSegment, writtenPattern, fc.constantFrom(".", ".."))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        const selection = ActorSelection.of(
          ActorPath.root({ system: "s" }),
          steps.filter(balanced()).join("/"),
        )
        const again = ActorSelection.of(base, String(selection))
        expect(String(again)).toBe(String(selection))
        expect(again.anchor.equals(selection.anchor)).toBe(true)
        expect(again.patterns).toEqual(selection.patterns)
      }),
      { numRuns: 2_000 },
    )
  })
})

/** Omits the steps that would go above the guardian. */
function balanced(): (step: string) => boolean {
  let depth = 0
  return (step) => {
    if (step === ".") return true
    if (step !== "..") return ++depth > 0
    if (depth === 0) return false
    depth -= 1
    return true
  }
}

describe("the destination of a selection", () => {
  const home: Address = ActorPath.parse("troupe.tcp://s@here:1/user").address
  const far = ActorSelection.of(base, "troupe.tcp://s@there:2/user/*")

  test("is here for a local selection and for one that names this node", () => {
    const never = (): never => {
      throw new Error("asked for the state of this node's own authority")
    }
    expect(ActorSelection.of(base, "*").destination(home, never)).toEqual({ kind: "here" })
    const own = ActorSelection.of(base, "troupe.tcp://s@here:1/user/a")
    expect(own.destination(home, never)).toEqual({ kind: "here" })
  })

  test("follows the state of the association for another node", () => {
    expect(far.destination(home, () => "connected")).toEqual({ kind: "there", authority: "there:2" })
    expect(far.destination(home, () => "unresolved")).toEqual({ kind: "deferred", authority: "there:2" })
    expect(far.destination(home, () => "quarantined")).toMatchObject({
      kind: "refused",
      error: { code: "Quarantined", subject: "there:2" },
    })
  })
})
