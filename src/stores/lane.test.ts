import { expect, it } from "vitest"
import type { Condition, Write } from "../ports/store.js"
import { goesFirst, isOfNodes } from "./lane.js"

it("recognizes the keys of leases and node records in any namespace, and no others", () => {
  for (const key of ["prod/leases/a", "prod/nodes/a/b", "leases/nodes/", "nodes/leases/"]) {
    expect([key, isOfNodes(key)]).toEqual([key, true])
  }
  for (const key of [
    "prod/state/leases/a",
    "prod/leases",
    "prod/nodesa/",
    "prod/",
    "",
    "leases/a",
    "prod/state/nodes/",
  ]) {
    expect([key, isOfNodes(key)]).toEqual([key, false])
  }
})

it("lets a commit go first only if all of its keys do", () => {
  const at = (key: string): Condition => ({ kind: "at", key, revision: 1 })
  const put = (key: string): Write => ({ kind: "put", key, value: new Uint8Array() })
  const of = (conditions: string[], writes: string[], reads?: string[]) =>
    goesFirst({ conditions: conditions.map(at), writes: writes.map(put), reads })
  expect(of(["n/leases/a", "n/nodes/a"], ["n/leases/a"])).toBe(true)
  expect(of([], ["n/nodes/a"])).toBe(true)
  expect(of(["n/nodes/a"], ["n/placements/T/1"])).toBe(false)
  expect(of(["n/placements/T/1"], ["n/nodes/a"])).toBe(false)
  expect(of([], ["n/nodes/a"], ["n/leases/a"])).toBe(true)
  expect(of([], ["n/nodes/a"], ["n/state/T/1"])).toBe(false)
  expect(of([], [])).toBe(false)
})
