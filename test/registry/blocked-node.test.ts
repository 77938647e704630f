import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { RegistryNode } from "./node-process.js"
import type { NodeOptions } from "./programs/node.js"
import { scratchFile } from "./scratch-file.js"

test("a node that computes for 4 s, four times as long as its lease lasts, keeps its actors", async () => {
  const { blocked, other, nodes } = await twoNodes({ lease: { ttlMs: 1_000 } })
  const claimed = await blocked.call("claim", "alice")
  await blocked.call("load", "alice")
  await blocked.call("computeFor", "alice", 4_000)
  expect(await blocked.event("turn-ended")).toMatchObject({
    mayReply: true,
    mayBeginNext: true,
    save: "saved",
  })
  expect((await blocked.call("claim", "alice")).generation).toBe(claimed.generation)
  expect((await other.call("claim", "alice")).kind).toBe("owned")
  await other.untilItSees(nodes)
})

test("a node that is stuck loses its actors to another one, and nothing is written twice", async () => {
  const { blocked, other, goOn } = await twoNodes({ lease: { ttlMs: 600 }, silenceMs: 1_000 })
  await blocked.call("claim", "alice")
  await blocked.call("load", "alice")
  expect(await blocked.call("save", "alice", "by the first")).toBe("saved")
  const { node: otherNode } = await other.call("identify")
  await blocked.call("compute", "alice", goOn)
  await other.untilItSees([otherNode])
  expect((await other.call("claim", "alice")).kind).toBe("acquired")
  expect(await other.call("load", "alice")).toBe("by the first")
  expect(await other.call("save", "alice", "by the second")).toBe("saved")
  writeFileSync(goOn, "")
  expect(await blocked.event("turn-ended")).toMatchObject({
    mayReply: false,
    mayBeginNext: false,
    save: "Fenced",
  })
  await blocked.event("rejoined")
  expect(await other.call("stored", "alice")).toBe("by the second")
})

test("a node that is stuck, and alone, keeps its actors", async () => {
  const file = scratchFile()
  const node = await RegistryNode.start({ file, lease: { ttlMs: 400 }, silenceMs: 400 })
  await threadRenewsFor(node)
  const claimed = await node.call("claim", "alice")
  await node.call("load", "alice")
  await node.call("computeFor", "alice", 1_500)
  expect(await node.event("turn-ended")).toMatchObject({ save: "saved" })
  expect((await node.call("claim", "alice")).generation).toBe(claimed.generation)
})

async function twoNodes(options: Omit<NodeOptions, "file">) {
  const file = scratchFile()
  const goOn = join(dirname(file), "go-on")
  const blocked = await RegistryNode.start({ file, ...options })
  const other = await RegistryNode.start({ file, ...options })
  await threadRenewsFor(blocked)
  const nodes = [(await blocked.call("identify")).node, (await other.call("identify")).node]
  await blocked.untilItSees(nodes)
  await other.untilItSees(nodes)
  return { blocked, other, nodes, goOn }
}

async function threadRenewsFor(node: RegistryNode): Promise<void> {
  await node.event("logged", ({ message }) => message.startsWith("a thread renews the lease"))
}
