import { expect } from "vitest"
import type { StoreOptions } from "../../tools/store-options.js"
import { type MemberOptions, type MemberProcess, MemberProcesses, timing } from "./member-process.js"

/**
 * Two nodes with a store: either one is killed, and the other serves what the first has hosted. Nobody proves the
 * death, so the lease has to end. One node of two is no majority, and has the lowest address or not: neither matters.
 */
export async function eitherOneServesAlone(store: StoreOptions): Promise<void> {
  const processes = new MemberProcesses()
  const both = [await processes.place("n1"), await processes.place("n2")] as const
  const lease = { ttlMs: 1_500, deathProof: false }
  const options: MemberOptions = { timing: { ...timing, splitBrain: { stableAfterMs: 2_000 }, lease }, store }
  await Promise.all(both.map((node) => node.start(options)))
  await Promise.all(both.map((node) => node.untilItSees(both)))
  await addToAll(both[0], 1)
  await addToAll(both[1], 2)
  const [one, other] = both
  let sum = 2
  for (const [killed, left] of [[one, other] as const, [other, one] as const]) {
    await killed.kill()
    await left.untilItSees([left])
    sum += 1
    await addToAll(left, sum)
    expect(await left.call("health")).toMatchObject({ phase: "member", members: 1 })
    await killed.start(options)
    await Promise.all(both.map((node) => node.untilItSees(both)))
    sum += 1
    await addToAll(killed, sum)
  }
}

/** Actors are placed by their keys, so both nodes have some. */
async function addToAll(node: MemberProcess, sum: number): Promise<void> {
  const keys = Array.from({ length: 16 }, (_, nth) => `tally-${nth}`)
  expect(await Promise.all(keys.map((key) => node.call("add", key)))).toEqual(keys.map(() => sum))
}
