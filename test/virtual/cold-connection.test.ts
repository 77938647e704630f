import { expect, test } from "vitest"
import { Actor, oneWay } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { startNode } from "../remote/nodes.js"
import { until } from "../remote/support/until.js"

class Echo extends Actor<number> {
  static readonly type = "Echo"
  readonly heard: number[] = []

  echo(value: number) {
    this.heard.push(value)
    return value
  }

  all() {
    return this.heard
  }
}

const MANY = 1_000

test("a new node makes more concurrent calls than may wait for a connection, and all are answered", async () => {
  const store = memoryStore()
  await startNode({ store, actors: [Echo] })
  const { system } = await startNode({ store, deferred: { perAuthority: 64, total: 128 } })
  await until("there is a host", () => system.cluster.hosting("Echo").length === 1)
  const calls = Array.from({ length: MANY }, (_, index) => system.actor(Echo, `k${index}`).echo(index))
  expect(await Promise.all(calls)).toEqual(Array.from({ length: MANY }, (_, index) => index))
})

test("more one-way calls to one actor than may wait for a connection run in order", async () => {
  const store = memoryStore()
  await startNode({ store, actors: [Echo] })
  const { system } = await startNode({ store, deferred: { perAuthority: 64, total: 128 } })
  await until("there is a host", () => system.cluster.hosting("Echo").length === 1)
  const echo = system.actor(Echo, "one")
  for (let value = 0; value < MANY; value += 1) oneWay(echo).echo(value)
  expect(await echo.all()).toEqual(Array.from({ length: MANY }, (_, index) => index))
})
