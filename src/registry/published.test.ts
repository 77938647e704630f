import { expect, test } from "vitest"
import type { NodeRecord } from "./node-record.js"
import { onceName, publishedBy } from "./published.js"

const record: NodeRecord = { status: "active", roles: [], types: ["Account"], lifeline: undefined }
const once = [onceName("Account", "deposit")]

test("a format of states is that of the node which can read the least, and methods are those of any node", () => {
  expect(publishedBy([])).toEqual({ stateFormat: 2, once: new Set() })
  expect(
    publishedBy([
      { ...record, stateFormat: 2, once },
      { ...record, stateFormat: 2 },
    ]),
  ).toEqual({
    stateFormat: 2,
    once: new Set(once),
  })
  expect(publishedBy([{ ...record, stateFormat: 2 }, record]).stateFormat).toBe(1)
  expect(publishedBy([{ ...record, stateFormat: 9 }]).stateFormat).toBe(2)
})
