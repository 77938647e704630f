import fc from "fast-check"
import { expect, it } from "vitest"
import {
  decodeRecord,
  type EpochRecord,
  encodeRecord,
  type Found,
  judge,
  type Known,
} from "./epoch-record.js"

const RECORD: EpochRecord & { readonly modRevision: number } = {
  identity: "store",
  epoch: "first",
  base: 100,
  clusterId: "7",
  raftIndex: 40,
  modRevision: 10,
}
const KNOWN: Known = { identity: "store", epoch: "first", base: 100, highest: 500 }
const FOUND: Found = { record: RECORD, clusterId: "7", revision: 600, raftIndex: 700 }

/** What is found, whether the process has used the store before, and the verdict. */
const CASES: readonly (readonly [string, Partial<Found>, Partial<Known> | undefined, string])[] = [
  ["a store as it was left", {}, {}, "current"],
  ["a store that is new to the process", {}, undefined, "current"],
  ["nothing, at the first start", { record: undefined }, undefined, "create"],
  ["nothing, where a store was", { record: undefined }, {}, "moved"],
  ["another cluster, at a start", { clusterId: "8" }, undefined, "copied"],
  ["another cluster, during a run", { clusterId: "8" }, {}, "moved"],
  ["another store in the same cluster", {}, { identity: "other" }, "moved"],
  [
    "an idle cluster whose log has grown without commits",
    { revision: 10, raftIndex: 900 },
    undefined,
    "current",
  ],
  ["as many entries as commits since the record", { revision: 600, raftIndex: 630 }, undefined, "current"],
  ["fewer entries than commits since the record", { revision: 600, raftIndex: 629 }, undefined, "cut at 700"],
  ["the log of a snapshot that was just restored", { revision: 600, raftIndex: 4 }, undefined, "cut at 700"],
  ["a revision below one that was seen", { revision: 499 }, {}, "cut at 600"],
  ["the revision that was seen", { revision: 500 }, {}, "current"],
  [
    "a later epoch, at a lower revision",
    { record: { ...RECORD, epoch: "b", base: 101 }, revision: 20 },
    {},
    "current",
  ],
  ["an earlier epoch", { record: { ...RECORD, epoch: "b", base: 99 } }, {}, "cut at 700"],
]

it.each(CASES)("judges %s", (_, found, known, expected) => {
  const verdict = judge({ ...FOUND, ...found }, known && { ...KNOWN, ...known })
  expect(verdict.kind === "cut" ? `cut at ${verdict.last}` : verdict.kind).toBe(expected)
})

it("takes no history for cut that was not, whenever its members were asked", () => {
  // Each step of a history is an entry of the log, which may be a commit.
  const steps = fc.array(fc.boolean(), { minLength: 2, maxLength: 60 })
  fc.assert(
    fc.property(steps, fc.nat(), fc.nat(), fc.nat(), (isCommit, one, two, lag) => {
      const revisionAt = (index: number) => 1 + isCommit.slice(0, index).filter(Boolean).length
      // The index is reported before the record is written, perhaps by a member that lags behind.
      const writtenAt = 1 + (one % isCommit.length)
      const record = {
        ...RECORD,
        raftIndex: Math.max(0, writtenAt - 1 - (lag % 5)),
        modRevision: revisionAt(writtenAt),
      }
      const readAt = writtenAt + (two % (isCommit.length - writtenAt + 1))
      const found = { ...FOUND, record, revision: revisionAt(readAt), raftIndex: readAt }
      expect(judge(found, undefined).kind).toBe("current")
    }),
  )
})

it("reads the record that it wrote, and takes nothing else for one", () => {
  const { modRevision: _, ...record } = RECORD
  expect(decodeRecord(encodeRecord(record))).toEqual(record)
  for (const text of ["", "null", "1", "{}", JSON.stringify({ ...record, format: 2 }), "\xff"]) {
    expect(decodeRecord(Buffer.from(text))).toBeUndefined()
  }
})
