import { expect, test } from "vitest"
import { remoteRef } from "../../test/remote/golden-session.js"
import type { InternalRef } from "../actor/internal-ref.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { MAX_NAMES } from "./frames.js"
import { ReceivedNames, SentNames } from "./names.js"

test("a name has to be told once, and again on another connection", () => {
  const names = new SentNames()
  const [one, two] = [remoteRef("one"), remoteRef("two")]
  expect(names.has(one)).toBe(false)
  expect([names.add(one), names.add(two)]).toEqual([0, 1])
  expect([names.has(one), names.has(two)]).toEqual([true, true])
  const next = new SentNames()
  expect([next.has(one), next.has(two)]).toEqual([false, false])
  expect(next.add(two)).toBe(0)
  expect(next.has(one)).toBe(false)
  expect(next.has(two)).toBe(true)
})

test("two refs with one path are two names: what is known goes by the ref", () => {
  const names = new SentNames()
  names.add(remoteRef("one"))
  expect(names.has(remoteRef("one"))).toBe(false)
})

test("the oldest name gives way when the numbers are used up, and gets another when it is told again", () => {
  const sent = new SentNames()
  const heard = new ReceivedNames()
  const refs = Array.from({ length: MAX_NAMES + 2 }, (_, number) => remoteRef(`r${number}`))
  for (const ref of refs) heard.set(sent.add(ref), ref as InternalRef<never>)
  const [first, second, third] = refs as [never, never, never]
  expect([sent.has(first), sent.has(second), sent.has(third)]).toEqual([false, false, true])
  expect(heard.get(0)).toBe(refs[MAX_NAMES])
  expect(heard.get(1)).toBe(refs[MAX_NAMES + 1])
  expect(heard.get(2)).toBe(third)
  const number = sent.add(first)
  heard.set(number, first)
  expect(number).toBe(2)
  expect([sent.has(first), sent.has(third)]).toEqual([true, false])
})

test("both sides assign the same names, in whatever order the targets are used", () => {
  const sent = new SentNames()
  const heard = new ReceivedNames()
  const refs = Array.from({ length: MAX_NAMES + 500 }, (_, number) => remoteRef(`r${number}`))
  for (let round = 0; round < 20_000; round += 1) {
    const ref = refs[(round * 7_919) % refs.length] as ReturnType<typeof remoteRef>
    if (!sent.has(ref)) heard.set(sent.add(ref), ref)
    if (heard.get(ref.nameNumber) !== ref) expect.fail(`in round ${round} another is meant`)
  }
})

test("a number that was not told means nobody", () => {
  const heard = new ReceivedNames()
  heard.set(0, remoteRef("zero"))
  expect(() => heard.get(1)).toThrow(MalformedBytesError)
  expect(() => heard.get(MAX_NAMES + 1)).toThrow("name 4097 is not defined")
})

test("numbers are given in order, and never beyond the limit", () => {
  const heard = new ReceivedNames()
  expect(() => heard.set(1, remoteRef("one"))).toThrow(MalformedBytesError)
  for (let number = 0; number < MAX_NAMES; number += 1) heard.set(number, remoteRef("one"))
  expect(() => heard.set(MAX_NAMES, remoteRef("one"))).toThrow("number 4096 of a name is out of order")
})
