import { expect, test } from "vitest"
import { nodePorts } from "../runtime/node-ports.js"
import { memoryStore } from "./memory-store.js"
import { MAX_CONDITIONS, MAX_KEY_BYTES } from "./namespaced-store.js"

const value = new Uint8Array(1)

async function opened() {
  const store = await memoryStore().open("shop", nodePorts())
  const { epoch } = await store.get("a")
  return { store, epoch }
}

test.each([
  ["", "1 to 2400 characters"],
  ["k".repeat(MAX_KEY_BYTES + 1), "1 to 2400 characters"],
  ["a b", "printable ASCII"],
  ["a\n", "printable ASCII"],
  ["é", "printable ASCII"],
])("refuses the key %j", async (key, problem) => {
  const { store, epoch } = await opened()
  await expect(store.get(key)).rejects.toThrow(problem)
  const put = { kind: "put", key, value } as const
  await expect(store.commit({ epoch, conditions: [], writes: [put] })).rejects.toThrow(problem)
  const absent = { kind: "absent", key } as const
  await expect(store.commit({ epoch, conditions: [absent], writes: [] })).rejects.toThrow(problem)
  await expect(store.commit({ epoch, conditions: [], writes: [], reads: [key] })).rejects.toThrow(problem)
})

test("refuses a commit that writes a key twice, or has too many parts", async () => {
  const { store, epoch } = await opened()
  const put = { kind: "put", key: "a", value } as const
  await expect(store.commit({ epoch, conditions: [], writes: [put, put] })).rejects.toThrow(
    "must not write a key twice",
  )
  const conditions = Array.from({ length: MAX_CONDITIONS + 1 }, () => ({ kind: "absent", key: "a" }) as const)
  await expect(store.commit({ epoch, conditions, writes: [put] })).rejects.toThrow(
    "at most 127 conditions and 128 writes and reads (got 128 and 1)",
  )
  expect((await store.list("")).entries).toEqual([])
})

test.each(["", "a/b", "a b", "é"])("refuses the namespace %j", async (namespace) => {
  await expect(memoryStore().open(namespace, nodePorts())).rejects.toThrow(
    "a namespace must consist of letters",
  )
})

test.each([0, 1_001, 1.5, Number.NaN])("refuses a page of %d entries", async (limit) => {
  const { store } = await opened()
  await expect(store.list("", { limit })).rejects.toThrow("limit must be an integer from 1 to 1000")
})
