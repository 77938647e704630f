import { describe, expect, it } from "vitest"
import { scratchFile } from "../registry/scratch-file.js"
import { type MemberOptions, type MemberProcess, MemberProcesses, timing } from "./member-process.js"

// Each test is the life of one cluster, as most of its time goes into starting processes.

describe("five nodes in processes of their own agree on who comes and goes", { timeout: 120_000 }, () => {
  it("if they join by a seed", async () => {
    const processes = new MemberProcesses()
    const nodes = await places(processes)
    const options: MemberOptions = { timing, seeds: [nodes[0].address] }
    // Nobody proves that the process is dead: it is suspected, and declared down.
    const end = ["UnreachableMember", "MemberDowned", "MemberRemoved"]
    await live(processes, nodes, options, end)
  })

  it("if they join through a store", async () => {
    const store = { kind: "sqlite", file: scratchFile() } as const
    const processes = new MemberProcesses()
    const nodes = await places(processes)
    const splitBrain = { stableAfterMs: 2_500 }
    const options: MemberOptions = { timing: { ...timing, splitBrain, lease: { ttlMs: 2_000 } }, store }
    // The kernel proves that the process is dead.
    await live(processes, nodes, options, ["MemberRemoved"])
  })
})

type Five = readonly [MemberProcess, MemberProcess, MemberProcess, MemberProcess, MemberProcess]

async function places(processes: MemberProcesses): Promise<Five> {
  const place = (number: number) => processes.place(`n${number}`)
  return [await place(1), await place(2), await place(3), await place(4), await place(5)]
}

async function live(
  processes: MemberProcesses,
  nodes: Five,
  options: MemberOptions,
  endOfKilled: readonly string[],
): Promise<void> {
  await form(nodes, options)
  const leader = nodes.find(({ node }) => node === nodes[0].view?.leader) as MemberProcess
  const [leaving, ...others] = nodes.filter((node) => node !== leader) as unknown as Five
  const source = { hasStore: options.store !== undefined }
  await leave(leaving, [leader, ...others], source)
  await killLeader(leader, others, endOfKilled)
  const [restarted, ...rest] = others as unknown as Five
  await restart(restarted, rest, options)
  await cutOff(processes, restarted, rest, source)
  await serves(rest)
  const second = others.find(({ node }) => node === restarted.view?.leader) as MemberProcess
  const lastTwo = others.filter((node) => node !== second)
  await leave(second, lastTwo, source)
  await Promise.all(lastTwo.map(leaveInTime))
}

/** All start at once. */
async function form(nodes: Five, options: MemberOptions): Promise<void> {
  await Promise.all(nodes.map((node) => node.start(options)))
  await Promise.all(nodes.map((node) => node.untilItSees(nodes)))
  const views = nodes.map(({ view }) => ({ ...view, self: undefined }))
  for (const view of views) expect(view).toEqual(views[0])
  expect(new Set(views[0]?.ages).size).toBe(nodes.length)
  const hasStore = options.store !== undefined
  for (const node of nodes) {
    expect(await node.call("health")).toMatchObject(healthOf(node, nodes, hasStore))
  }
}

async function leave(
  leaving: MemberProcess,
  others: readonly MemberProcess[],
  { hasStore }: { readonly hasStore: boolean },
): Promise<void> {
  const { node } = leaving
  const since = Date.now()
  await leaveInTime(leaving)
  await Promise.all(others.map((other) => other.untilItSees(others)))
  for (const other of others) {
    const end = await other.event(["MemberLeft", "MemberRemoved"], node, since)
    expect(other.eventsOf(node)).not.toContain("MemberDowned")
    // A watch of the store may skip the record of a node that leaves, and show that it is gone.
    if (hasStore && end === "MemberRemoved") continue
    expect(end).toBe("MemberLeft")
    expect(other.eventsOf(node)).toContain("MemberLeaving")
  }
}

/** A node that nobody lets go would leave after `drainMs`, which is 10 s. */
async function leaveInTime(node: MemberProcess): Promise<void> {
  expect(await node.stop(8_000)).toBe(true)
}

async function killLeader(
  leader: MemberProcess,
  others: readonly MemberProcess[],
  end: readonly string[],
): Promise<void> {
  const { node } = leader
  const since = Date.now()
  await leader.kill()
  await Promise.all(others.map((other) => other.untilItSees(others)))
  const next = others[0]?.view?.leader
  expect(others.map((other) => other.node)).toContain(next)
  for (const other of others) {
    for (const event of end) await other.event([event], node, since)
    await other.event(["LeaderChanged"], next, since)
    expect(other.eventsOf(node)).not.toContain("MemberLeft")
    expect(other.view?.leader).toBe(next)
  }
}

/** The old incarnation is still a member when the new one comes. */
async function restart(node: MemberProcess, others: readonly MemberProcess[], options: MemberOptions) {
  const { node: before } = node
  await node.kill()
  await node.start({ ...options, ...(options.seeds && { seeds: others.map(({ address }) => address) }) })
  expect(node.node).not.toBe(before)
  const all = [node, ...others]
  await Promise.all(all.map((each) => each.untilItSees(all)))
  for (const other of others) expect(other.eventsOf(before)).toContain("MemberRemoved")
}

/** It loses, as it is alone; the others declare it down, and it joins again once it reaches them. */
async function cutOff(
  processes: MemberProcesses,
  lost: MemberProcess,
  others: readonly MemberProcess[],
  { hasStore }: { readonly hasStore: boolean },
): Promise<void> {
  const { node } = lost
  const since = Date.now()
  const heal = processes.cut([lost], others)
  for (const other of others) {
    await other.event(["UnreachableMember"], node, since)
    await other.event(["MemberRemoved"], node, since)
    expect(other.eventsOf(other.node)).not.toContain("UnreachableMember")
  }
  await Promise.all(others.map((other) => other.untilItSees(others)))
  // With a store it may hear that it is down before it has noticed anything.
  if (!hasStore) for (const other of others) await lost.event(["UnreachableMember"], other.node, since)
  const isFenced = (event: { readonly kind: string }) => event.kind === "fenced"
  expect(await lost.events.first("the node that is cut off is fenced", isFenced)).toMatchObject({ node })
  const health = await lost.call("health")
  expect(health.isReady).toBe(false)
  expect(health.reasons).not.toEqual([])
  heal()
  await lost.untilItRejoins()
  expect(lost.node).not.toBe(node)
  const all = [lost, ...others]
  await Promise.all(all.map((each) => each.untilItSees(all)))
  for (const other of others) expect(lost.eventsOf(other.node)).not.toContain("MemberRemoved")
  expect(await lost.call("health")).toMatchObject(healthOf(lost, all, hasStore))
}

/** With a store a node is not ready while its lease is renewed late, which a busy machine may cause. */
function healthOf({ node }: MemberProcess, { length }: readonly MemberProcess[], hasStore: boolean): object {
  return { phase: "member", node, members: length, ...(hasStore ? {} : { isReady: true, reasons: [] }) }
}

/** Each answers each, and says how busy it is. */
async function serves(nodes: readonly MemberProcess[]): Promise<void> {
  for (const asker of nodes) {
    for (const asked of nodes) {
      expect(await asker.call("ask", asked.address, "hello")).toBe(`hello from ${asked.node}`)
      const figures = await asker.call("figures", asked.node)
      expect(figures?.busy).toBeGreaterThanOrEqual(0)
      expect(figures?.busy).toBeLessThanOrEqual(1)
      expect(figures?.activations).toBe(0)
    }
  }
}
