import { setTimeout as pause } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { ParentProcess } from "../../tools/cluster/parent-process.js"
import { RemindedAccount } from "../reminded-account.js"
import { settledHeap } from "../settled-heap.js"
import { startOnFile } from "../sqlite/system-on-file.js"

/** Each ward is looked at every 5 seconds. */
const LOOKS = 2 * 256

setFlagsFromString("--expose-gc")
globalThis.gc = runInNewContext("gc") as NonNullable<typeof globalThis.gc>

// Keeps the wards of the store in this file until each was looked at twice, and says how large its heap is.
const parent = new ParentProcess<string, never>()
let looks = 0
const system = await startOnFile(parent.options, RemindedAccount, {
  listed: (prefix) => {
    if (prefix.startsWith("due/")) looks += 1
  },
})
while (looks < LOOKS) await pause(100)
const heap = settledHeap()
parent.serve({ greeting: () => `${heap}`, stop: () => system.stop() })
