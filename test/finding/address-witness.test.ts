import { expect, test } from "vitest"
import { AddressWitness } from "./address-witness.js"

test("an address that two users have at the same time is a problem", () => {
  const witness = new AddressWitness()
  witness.asks("ann", "a@example.com").granted()
  witness.asks("bob", "a@example.com").granted()
  expect(witness.problems).toEqual(["a@example.com was given to bob, while ann had it"])
})

test("an address that was given up, or is being given up, may be given again", () => {
  const witness = new AddressWitness()
  witness.asks("ann", "a@example.com").granted()
  witness.leaves("ann")
  witness.asks("bob", "a@example.com").granted()
  witness.hasLeft("ann")
  expect(witness.problems).toEqual([])
  expect([...witness.owners()]).toEqual([["a@example.com", "bob"]])
})

test("a refusal needs somebody who may have had the address", () => {
  const witness = new AddressWitness()
  witness.asks("ann", "a@example.com").refused()
  expect(witness.problems).toEqual(["a@example.com was refused to ann, and nobody can have had it"])
  const [bob, cleo] = [witness.asks("bob", "b@example.com"), witness.asks("cleo", "b@example.com")]
  bob.refused()
  cleo.granted()
  witness.asks("dora", "b@example.com").refused()
  expect(witness.problems).toHaveLength(1)
  expect([...witness.free()]).toEqual(["a@example.com"])
})
