import { afterEach, expect, it } from "vitest"
import { type Question, WatchedNode } from "./support/watched-node.js"

const OLD = "the secret that was, long enough"
const NEW = "the secret to be, long enough too"

const nodes: (WatchedNode | undefined)[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node?.stop()
})

// The node that asks first dials, so each secret is tested on the dialling and on the listening side.
it.each([
  ["the node that was restarted dials", true],
  ["the others dial the node that was restarted", false],
])(
  "three nodes change their secret in two rollouts, one node at a time, and can talk all the while: %s",
  async (_, dials) => {
    for (let place = 0; place < 3; place += 1) await restart(place, OLD)
    await allTalk(0, dials)
    const rollouts = [[NEW, OLD], NEW] as const
    for (const secret of rollouts) {
      for (let place = 0; place < 3; place += 1) {
        await restart(place, secret)
        await allTalk(place, dials)
      }
    }
    const left = await WatchedNode.start({ listen: { host: "127.0.0.1", port: 0, secret: OLD }, ...QUICK })
    nodes.push(left)
    await expect(ask(left, nodes[0] as WatchedNode, 300)).rejects.toMatchObject({ delivery: "not-delivered" })
    expect(new Set(left.failed.map(({ reason }) => reason))).toEqual(new Set(["refused"]))
  },
)

it("a single rollout is not enough: nodes with only the new and only the old secret do not connect", async () => {
  await restart(0, OLD)
  await restart(1, NEW)
  const [a, b] = nodes as WatchedNode[]
  await expect(ask(a as WatchedNode, b as WatchedNode, 300)).rejects.toMatchObject({
    delivery: "not-delivered",
  })
  await expect(ask(b as WatchedNode, a as WatchedNode, 300)).rejects.toMatchObject({
    delivery: "not-delivered",
  })
})

async function restart(place: number, secret: string | readonly [string, string]): Promise<void> {
  const before = nodes[place]
  const port = before?.system.node?.port ?? 0
  await before?.stop()
  nodes[place] = await WatchedNode.start({ listen: { host: "127.0.0.1", port, secret }, ...QUICK })
}

/** Each node asks each other; the node at this index first or last. */
async function allTalk(place: number, isFirst: boolean): Promise<void> {
  const all = nodes as WatchedNode[]
  const others = all.filter((node) => node !== all[place])
  const one = all[place] as WatchedNode
  for (const from of isFirst ? [one, ...others] : [...others, one]) {
    for (const to of all) if (from !== to) expect(await ask(from, to, 10_000)).toBe("hello")
  }
}

const QUICK = { reconnect: { fromMs: 5, toMs: 20 } }

function ask(from: WatchedNode, to: WatchedNode, timeoutMs: number): Promise<string> {
  const echo = from.system.resolve<Question>(to.path("echo"))
  return from.system.ask<Question, string>(echo, (replyTo) => ({ text: "hello", replyTo }), { timeoutMs })
}
