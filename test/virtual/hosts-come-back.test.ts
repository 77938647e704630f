import { expect, test } from "vitest"
import { Actor, UnknownActorTypeError } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { startNode } from "../remote/nodes.js"
import { until } from "../remote/support/until.js"
import { failureOf } from "./scene.js"

class Clerk extends Actor<number> {
  static readonly type = "Clerk"

  protected override initialState() {
    return 0
  }

  async count() {
    this.state += 1
    await this.save()
    return this.state
  }
}

test("a call waits for the next host of a type that was hosted before, and fails at once for one that was not", async () => {
  const store = memoryStore()
  const { system } = await startNode({ store })
  const first = await startNode({ store, actors: [Clerk] })
  await until("there is a host", () => system.cluster.hosting("Clerk").length === 1)
  const clerk = system.actor<Clerk>("Clerk", "a")
  expect(await clerk.count()).toBe(1)
  await first.system.stop()
  await until("there is none", () => system.cluster.hosting("Clerk").length === 0)
  const waiting = clerk.count()
  const stranger = system.actor<Clerk>("Nobody", "a")
  expect(await failureOf(stranger.count())).toBeInstanceOf(UnknownActorTypeError)
  await startNode({ store, actors: [Clerk] })
  expect(await waiting).toBe(2)
})
