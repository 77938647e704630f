import { expect, test } from "vitest"
import { Actor } from "../../src/index.js"
import { leaseKey } from "../../src/registry/node-record.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { startNode } from "../remote/nodes.js"
import { Gate } from "./scene.js"

const gate = new Gate()

class Slow extends Actor {
  static readonly type = "Slow"

  async wait() {
    await gate.promise
  }

  hello() {
    return 1
  }
}

test("a node whose turns do not end in time does not give up its lease", async () => {
  const store = memoryStore()
  const watching = await store.open("test", nodePorts())
  const isHeld = async (node: string) => (await watching.get(leaseKey(node))).entry !== undefined

  const busy = await startNode({ store, actors: [Slow], drainMs: 50, lease: { deathProof: false } })
  const busyNode = ActorSystem.registryOf(busy.system)?.node.toString() as string
  busy.system
    .actor(Slow, "a")
    .wait()
    .catch(() => {})
  await busy.system.actor(Slow, "b").hello()
  await busy.system.stop()
  expect(await isHeld(busyNode)).toBe(true)

  const idle = await startNode({ store, actors: [Slow], drainMs: 5_000, lease: { deathProof: false } })
  const idleNode = ActorSystem.registryOf(idle.system)?.node.toString() as string
  await idle.system.actor(Slow, "c").hello()
  await idle.system.stop()
  expect(await isHeld(idleNode)).toBe(false)
  gate.open()
})
