import { expect, test } from "vitest"
import { Actor, type NodeId } from "../../src/index.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { settle } from "../fake/manual-clock.js"
import { Gate, outcome, scenes } from "./scene.js"

const gate = new Gate()
let isRunning = false

class Saver extends Actor<number> {
  static readonly type = "Saver"

  protected override initialState() {
    return 0
  }

  hello() {
    return this.fencingToken
  }

  async saveAndGoOn() {
    isRunning = true
    await this.save().catch(() => {})
    await gate.promise
    isRunning = false
  }
}

const start = scenes()

test("a stopping node keeps its lease while a turn of a superseded activation still runs", async () => {
  const store = memoryStore()
  const { system } = await start([Saver], { store })
  const view = await store.open("test", nodePorts())
  const saver = system.actor(Saver, "s")
  await saver.hello()
  // The state is overwritten from outside: the save is refused, and the activation ends except for its turn.
  const { epoch } = await view.get("state/Saver/s")
  const write = { kind: "put", key: "state/Saver/s", value: new Uint8Array(1) } as const
  await view.commit({ epoch, conditions: [], writes: [write] })
  const call = saver.saveAndGoOn().catch(() => {})
  await settle()
  const node = ActorSystem.registryOf(system)?.node as NodeId
  const hasLease = async () => (await view.get(`leases/${node}`)).entry !== undefined
  const stopped = system.stop()
  await settle()
  expect({ isRunning, hasLease: await hasLease() }).toEqual({ isRunning: true, hasLease: true })
  expect(await outcome(stopped)).toBe("pending")
  gate.open()
  await Promise.all([stopped, call])
  expect({ isRunning, hasLease: await hasLease() }).toEqual({ isRunning: false, hasLease: false })
})
