import { expect, test } from "vitest"
import type { Report } from "./messages.js"
import { Packing, type Parcel } from "./parcel.js"
import { ReportInbox } from "./report-inbox.js"

const QUICK = 0.1
const SLOW = 5

test("handles 32 reports at once, in their order, with the bytes of their parcel", () => {
  const { inbox, tasks, lines } = scene()
  inbox.add(parcelOf(40, QUICK))
  expect(lines()).toEqual([...counted(1, 32, 40), "paused"])
  inbox.add(parcelOf(3, QUICK))
  expect(lines()).toEqual([])
  tasks.shift()?.()
  expect(lines()).toEqual([...counted(33, 40, 40), ...counted(1, 3, 3), "paused"])
  expect(tasks).toEqual([])
})

test("lets requests go between the reports of a quick worker, and after those of a slow one", () => {
  const { inbox, tasks } = scene()
  expect(inbox.letsRequestsGo).toBe(true)
  inbox.add(parcelOf(33, QUICK))
  expect(inbox.letsRequestsGo).toBe(true)
  tasks.shift()?.()
  inbox.add(parcelOf(33, SLOW))
  expect(inbox.letsRequestsGo).toBe(false)
  tasks.shift()?.()
  expect(inbox.letsRequestsGo).toBe(true)
})

test("handles everything at once if it is drained", () => {
  const { inbox, tasks, lines } = scene()
  inbox.add(parcelOf(100, SLOW))
  inbox.drain()
  expect(lines()).toEqual([...counted(1, 32, 100), "paused", ...counted(33, 100, 100), "paused"])
  // The task that was requested before finds nothing.
  tasks.shift()?.()
  expect(lines()).toEqual(["paused"])
  inbox.add(parcelOf(1, SLOW))
  expect(lines()).toEqual([...counted(1, 1, 1), "paused"])
})

test("handles a report once, though its reader fails", () => {
  const { inbox, fail, lines } = scene()
  fail()
  expect(() => inbox.add(parcelOf(2, QUICK))).toThrow("a broken reader")
  inbox.add(parcelOf(1, QUICK))
  expect(lines()).toEqual(["2 of 2", "1 of 1", "paused"])
})

function scene() {
  const tasks: (() => void)[] = []
  let log: string[] = []
  let fails = false
  const inbox = new ReportInbox(
    { yield: (task) => tasks.push(task) },
    {
      handle: ({ id }, bytes) => {
        if (fails) {
          fails = false
          throw new Error("a broken reader")
        }
        log.push(`${id} of ${bytes.length}`)
      },
      paused: () => log.push("paused"),
    },
  )
  return {
    inbox,
    tasks,
    fail: () => {
      fails = true
    },
    /** What was handled since the last call. */
    lines: () => {
      const lines = log
      log = []
      return lines
    },
  }
}

/** As many bytes as reports. */
function parcelOf(reports: number, fixedMs: number): Parcel {
  const packing = new Packing<Report>()
  for (let id = 1; id <= reports; id += 1) packing.add({ kind: "committed", id, revision: id })
  packing.append(new Uint8Array(reports))
  return { ...packing.take(0), fixedMs }
}

function counted(from: number, to: number, bytes: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${from + index} of ${bytes}`)
}
