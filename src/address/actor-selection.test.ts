import { describe, expect, test } from "vitest"
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
])("%s is refused: %s", (expression, code) => {
  expect(() => ActorSelection.resolve(base, expression)).toThrow(expect.objectContaining({ code }))
})

test("a base that the runtime named is no obstacle", () => {
  expect(String(ActorSelection.resolve(at("troupe://s/user/$a/b"), "../c"))).toBe("troupe://s/user/$a/c")
})

describe("wildcards", () => {
  test.each([
    ["*", "troupe://s/user/worker/a", true],
    ["*", "troupe://s/user/worker/$a", true],
    ["*", "troupe://s/user/worker/a/b", false],
    ["*", "troupe://s/user/worker", false],
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
  ])("%s against %s: %s", (expression, path, expected) => {
    expect(ActorSelection.of(base, expression).matches(at(path))).toBe(expected)
  })

  test("the anchor is what stands before the first wildcard", () => {
    const selection = ActorSelection.of(base, "../a/b*/c")
    expect(String(selection.anchor)).toBe("troupe://s/user/a")
    expect(selection.patterns).toEqual(["b*", "c"])
    expect(String(selection)).toBe("troupe://s/user/a/b*/c")
  })

  test("a pattern obeys the rules of a name", () => {
    for (const bad of ["*/b c", "*/$x", "*//a"])
      expect(() => ActorSelection.of(base, bad)).toThrow(ActorPathError)
  })

  test("a long pattern of stars does not run away", () => {
    const selection = ActorSelection.of(base, `${"*a".repeat(200)}b`)
    expect(selection.matches(at(`troupe://s/user/worker/${"a".repeat(2_000)}`))).toBe(false)
  })
})

describe("where a message to a selection goes", () => {
  const home: Address = ActorPath.parse("troupe.tcp://s@here:1/user").address
  const far = ActorSelection.of(base, "troupe.tcp://s@there:2/user/*")

  test("a local one, and one that names this very node, stay here", () => {
    const never = (): never => {
      throw new Error("asked for the state of this node's own authority")
    }
    expect(ActorSelection.of(base, "*").destination(home, never)).toEqual({ kind: "here" })
    const own = ActorSelection.of(base, "troupe.tcp://s@here:1/user/a")
    expect(own.destination(home, never)).toEqual({ kind: "here" })
  })

  test("one that names another node goes with that node's association", () => {
    expect(far.destination(home, () => "connected")).toEqual({ kind: "there", authority: "there:2" })
    expect(far.destination(home, () => "unresolved")).toEqual({ kind: "deferred", authority: "there:2" })
    expect(far.destination(home, () => "quarantined")).toMatchObject({
      kind: "refused",
      error: { code: "Quarantined", subject: "there:2" },
    })
  })
})
