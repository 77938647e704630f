import { expect, test } from "vitest"
import { RegistryNode } from "./node-process.js"
import type { NodeOptions } from "./programs/node.js"
import { scratchFile } from "./scratch-file.js"

test("another node of the host has a killed one's actor within a second", async () => {
  expect(await takeoverMs({})).toBeLessThan(1_000)
})

test("without a proof of death it takes until the lease has run out", async () => {
  const ttlMs = 2_000
  const tookMs = await takeoverMs({ ttlMs, deathProof: false })
  // The last renewal was a third of the ttl before at most; and a little more, if it was held up.
  expect(tookMs).toBeGreaterThan(ttlMs * (1.1 - 1 / 3) - 300)
  expect(tookMs).toBeLessThan(ttlMs * 1.1 + 1_000)
})

/** From the kill until the other node's claim was committed, and that was heard of here. */
async function takeoverMs(lease: NonNullable<NodeOptions["lease"]>): Promise<number> {
  const file = scratchFile()
  const killed = await RegistryNode.start({ file, lease })
  const other = await RegistryNode.start({ file, lease })
  const { node } = await killed.call("identify")
  await other.untilItSees([node, (await other.call("identify")).node])
  await killed.call("claim", "alice")
  expect(await killed.call("load", "alice")).toBeUndefined()
  expect(await killed.call("save", "alice", "before the end")).toBe("saved")
  const claimed = other.call("claimAfter", node, "alice")
  expect((await other.call("claim", "alice")).kind).toBe("owned")
  const killedAt = performance.now()
  await killed.kill()
  expect((await claimed).kind).toBe("acquired")
  const tookMs = performance.now() - killedAt
  expect(await other.call("load", "alice")).toBe("before the end")
  await other.call("stop")
  return tookMs
}
