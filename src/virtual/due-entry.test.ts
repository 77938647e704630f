import { expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { duePlace, keyOfDue, parseDue, timeOfDue } from "./due-entry.js"

const digestOf = (text: string) => `digest${text.length}`

test("an entry is read as it was written", () => {
  for (const key of ["a", "ada@example.com", "ü/ %", "x".repeat(200)]) {
    const place = duePlace("7", ActorId.of("test", "Account", key), digestOf)
    const written = keyOfDue(place, 1_234.9, "renew")
    expect(parseDue(written, place.value)).toEqual({ type: "Account", key, at: 1_234, name: "renew" })
    expect(timeOfDue(written)).toBe(1_234)
  }
})

test("a long key is in the value", () => {
  const key = "é".repeat(200)
  const place = duePlace("group.7", ActorId.of("test", "Account", key), digestOf)
  const written = keyOfDue(place, 5, "~x")
  expect(written).toBe("due/group.7/Account/0000000000000005/#digest200/~x")
  expect(parseDue(written)).toBe("needs-value")
  expect(parseDue(written, place.value)).toEqual({ type: "Account", key, at: 5, name: "~x" })
})

test("what no version writes is no entry", () => {
  for (const key of [
    "state/Account/a",
    "due/7/Account/000000000000005/a/renew",
    "due/7/Account/00000000000000005/a/renew",
    "due/7/Account/000000000000000x/a/renew",
    "due/7/Account/0000000000000005/a",
    "due/7/Account/0000000000000005/a/",
    "due/7/Account/0000000000000005//renew",
    "due/7/Account/0000000000000005/a/renew/b",
    "due/7/Acc ount/0000000000000005/a/renew",
    "due/7/Account/0000000000000005/%ff/renew",
  ]) {
    expect([key, parseDue(key)]).toEqual([key, undefined])
  }
})
