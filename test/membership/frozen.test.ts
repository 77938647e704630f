import { expect, test } from "vitest"
import { MemberProcesses, timing } from "./member-process.js"

test("a seed that was frozen until the others removed it yields to them", async () => {
  const processes = new MemberProcesses()
  const frozen = await processes.place("n1")
  const others = [await processes.place("n2"), await processes.place("n3")]
  const all = [frozen, ...others]
  const options = { timing, seeds: [frozen.address] }
  await Promise.all(all.map((node) => node.start(options)))
  await Promise.all(all.map((node) => node.untilItSees(all)))
  const before = all.map(({ node }) => node)
  await frozen.halt()
  // They dial it from now on, since it is their seed, and its kernel accepts their connections.
  await Promise.all(others.map((node) => node.untilItSees(others)))
  frozen.resume()
  await frozen.untilItRejoins()
  await Promise.all(all.map((node) => node.untilItSees(all)))
  expect(all.map(({ node }, nth) => node === before[nth])).toEqual([false, true, true])
})
