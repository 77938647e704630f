import { expect, onTestFinished, test } from "vitest"
import { Actor, preferLocal } from "../../src/index.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../src/system/settings.js"
import { SECRET } from "../remote/nodes.js"
import { recorded, until } from "../remote/support/until.js"
import { failureOf } from "./scene.js"

class Clerk extends Actor<number> {
  static readonly type = "Clerk"
  static readonly placement = preferLocal

  work() {
    return "done"
  }
}

const settings: Partial<ActorSystemSettings> = {
  actors: [Clerk],
  lease: { ttlMs: 1_000, deathProof: false },
}

async function start(own: Partial<ActorSystemSettings>) {
  const log = recorded<string>()
  const logger = {
    enabled: () => true,
    log: (level: string, message: string) => void log.push(`${level} ${message}`),
    with: () => logger,
  }
  const system = await ActorSystem.start({ namespace: "test", ...settings, ...own }, nodePorts({ logger }))
  onTestFinished(() => system.stop())
  return { system, log }
}

const STRANGER = "error another process has joined the cluster with this node's own address"

test("two processes that share a store and do not listen get an error", async () => {
  const store = memoryStore()
  const one = await start({ store })
  const other = await start({ store })
  expect(await one.system.actor(Clerk, "a").work()).toBe("done")
  await until("it is noticed", () => one.log.includes(STRANGER) && other.log.includes(STRANGER))
  expect(await failureOf(other.system.actor(Clerk, "a").work())).toMatchObject({
    code: "NodeUnreachable",
    delivery: "not-delivered",
    message: expect.stringContaining("set listen"),
  })
})

test("two processes that advertise the same address get an error", async () => {
  const store = memoryStore()
  const listen = { host: "127.0.0.1", port: 0, secret: SECRET }
  const advertise = { host: "127.0.0.1", port: 25_520 }
  const one = await start({ store, listen, advertise })
  const other = await start({ store, listen, advertise })
  expect(await one.system.actor(Clerk, "a").work()).toBe("done")
  await until("it is noticed", () => one.log.includes(STRANGER) && other.log.includes(STRANGER))
  expect(await failureOf(other.system.actor(Clerk, "a").work())).toMatchObject({
    code: "NodeUnreachable",
    delivery: "not-delivered",
    message: expect.stringContaining("give each node its own"),
  })
})
