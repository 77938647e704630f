import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { actorIdParts, hostileText } from "../../test/generate/names.js"
import { ActorId } from "./actor-id.js"
import { ActorIdError } from "./actor-id-error.js"

test.each([
  ["alice", "prod::Account/alice"],
  ["ada@example.com", "prod::Account/ada@example.com"],
  ["room/42", "prod::Account/room%2F42"],
  ["a b", "prod::Account/a%20b"],
  ["100%", "prod::Account/100%25"],
  ["%41", "prod::Account/%2541"],
  ["it's (*)!", "prod::Account/it%27s%20%28%2A%29%21"],
  ["日本", "prod::Account/%E6%97%A5%E6%9C%AC"],
])("encodes the key %s as %s", (key, text) => {
  const id = ActorId.of("prod", "Account", key)
  expect(id.toString()).toBe(text)
  expect(ActorId.parse(text)).toMatchObject({ namespace: "prod", type: "Account", key })
})

test("parses a key whose characters are not escaped", () => {
  expect(ActorId.parse("prod::Room/room/42").toString()).toBe("prod::Room/room%2F42")
})

test.each([
  ["", "Malformed"],
  ["prod/Account/a", "Malformed"],
  ["prod::Account", "Malformed"],
  ["::Account/a", "InvalidNamespace"],
  ["a b::Account/a", "InvalidNamespace"],
  ["prod::/a", "InvalidType"],
  ["prod::Acc ount/a", "InvalidType"],
  ["prod::Account/", "InvalidKey"],
  ["prod::Account/a\nb", "InvalidKey"],
  ["prod::Account/a%0Ab", "InvalidKey"],
  ["prod::Account/a\u0085", "InvalidKey"],
  ["prod::Account/\ud800", "InvalidKey"],
  ["prod::Account/%", "PercentDecode"],
  ["prod::Account/%FF", "PercentDecode"],
  [`prod::Account/${"k".repeat(243)}`, "TooLong"],
  [`prod::Account/${"%41".repeat(900)}`, "TooLong"],
])("refuses %j: %s", (text, code) => {
  expect(ActorId.tryParse(text)).toBeInstanceOf(ActorIdError)
  expect(() => ActorId.parse(text)).toThrow(expect.objectContaining({ code }))
})

test.each([
  ["a b::Account/a", 1],
  ["prod::Acc ount/a", 9],
  ["prod::Account/a\nb", 15],
  ["prod::Account/%41%C3%A9%E6%97%A5%F0%9F%98%80\u{1f600}x%0A", 47],
  ["prod::Account/%41\ud800", 17],
  ["prod::Account/a%", 15],
  ["prod::Account/a%20%zz", 18],
  ["prod::Account/%C3%A9%FF", 20],
  ["prod::Account/%E6%97x", 14],
  ["prod::Account/", undefined],
])("reports for %j the position %s in the whole string", (text, position) => {
  expect(ActorId.tryParse(text)).toMatchObject({ position })
})

test("reports for `of` the position in the invalid part", () => {
  expect(ActorId.tryOf("prod", "Acc ount", "a")).toMatchObject({ code: "InvalidType", position: 3 })
  expect(ActorId.tryOf("prod", "Account", "a\n")).toMatchObject({ code: "InvalidKey", position: 1 })
  expect(ActorId.tryOf("prod", "Account", "\u{1f600}\udc00")).toMatchObject({ position: 2 })
})

test("allows at most 256 characters in all, whatever the length of the string form", () => {
  const longest = ActorId.of("prod", "Account", "\u65e5".repeat(242))
  expect(ActorId.parse(longest.toString()).equals(longest)).toBe(true)
  expect(() => ActorId.of("prod", "Account", "\u65e5".repeat(243))).toThrow(/at most 256/)
})

describe("for any input", () => {
  test("parse and format are inverse, and the string form is safe in logs and URLs", () => {
    fc.assert(
      fc.property(actorIdParts, ({ namespace, type, key }) => {
        const id = ActorId.of(namespace, type, key)
        const again = ActorId.parse(id.toString())
        expect(again.key).toBe(key)
        expect(again.equals(id)).toBe(true)
        expect(again.toString()).toBe(id.toString())
        expect(id.toString()).toMatch(/^[\w.-]+::[\w.-]+\/[\w.~@:%-]+$/)
      }),
      { numRuns: 2_000 },
    )
  })

  test("parsing a hostile string gives an id or an ActorIdError", () => {
    fc.assert(
      fc.property(hostileText, fc.boolean(), (text, whole) => {
        const id = ActorId.tryParse(whole ? text : `prod::T/${text}`)
        if (!(id instanceof ActorIdError)) expect(ActorId.parse(id.toString()).equals(id)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })
})
