import { expect, test } from "vitest"
import { nodePorts } from "../runtime/node-ports.js"
import { memoryStore } from "./memory-store.js"

test("two memory stores are independent", async () => {
  const [one, two] = [memoryStore(), memoryStore()]
  const [here, there] = [await one.open("shop", nodePorts()), await two.open("shop", nodePorts())]
  expect(here.identity).not.toBe(there.identity)
  expect((await one.open("shop", nodePorts())).identity).toBe(here.identity)
})

test("a watcher is called before any timer or input is served", async () => {
  const store = await memoryStore().open("shop", nodePorts())
  const told: string[] = []
  const from = await store.list("")
  store.watch("", from, {
    changed: (changes) => told.push(...changes.map(({ key }) => key)),
    gap: () => told.push("gap"),
  })
  setImmediate(() => told.push("immediate"))
  const write = { kind: "put", key: "a", value: new Uint8Array() } as const
  await store.commit({ epoch: from.epoch, conditions: [], writes: [write] })
  await new Promise((resolve) => setImmediate(resolve))
  expect(told).toEqual(["a", "immediate"])
})
