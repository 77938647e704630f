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
  store.watch("nodes/", from, {
    changed: (changes) => told.push(...changes.map(({ key }) => key)),
    gap: () => told.push("gap"),
  })
  setImmediate(() => told.push("immediate"))
  const write = { kind: "put", key: "nodes/a", value: new Uint8Array() } as const
  await store.commit({ epoch: from.epoch, conditions: [], writes: [write] })
  await new Promise((resolve) => setImmediate(resolve))
  expect(told).toEqual(["nodes/a", "immediate"])
})

test("a watch keeps up with any number of commits that do not concern it", async () => {
  const store = await memoryStore().open("shop", nodePorts())
  const told: string[] = []
  const { epoch, revision } = await store.list("")
  store.watch(
    "nodes/",
    { epoch, revision },
    {
      changed: (changes) => told.push(...changes.map(({ key }) => key)),
      gap: () => told.push("gap"),
    },
  )
  const put = (key: string) =>
    store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value: new Uint8Array() }] })
  // More than the store keeps of its history.
  for (let commit = 0; commit < 20_001; commit += 1) await put("wards/a")
  await put("nodes/b")
  await new Promise((resolve) => setImmediate(resolve))
  expect(told).toEqual(["nodes/b"])
})
