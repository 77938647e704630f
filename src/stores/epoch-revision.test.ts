import { expect, it } from "vitest"
import { firstRevision } from "./epoch-revision.js"

const NOW = Date.UTC(2026, 10, 15)
const HOUR_MS = 3_600_000

it("begins above all revisions that an earlier epoch can have issued, wherever that one began", () => {
  const backup = 1_000
  const first = firstRevision(backup, NOW)
  // An hour at a million commits a second, and then the same backup again.
  const givenOut = first + 3_600_000_000
  expect(firstRevision(backup, NOW + HOUR_MS)).toBeGreaterThan(givenOut)
  expect(firstRevision(givenOut, NOW + HOUR_MS)).toBeGreaterThan(givenOut)
})

it("never begins at the same revision twice, even if a young backup is restored twice within a minute", () => {
  const backup = firstRevision(1_000, NOW) + 500
  const first = firstRevision(backup, NOW + 10_000)
  expect(first).toBeGreaterThan(backup)
  expect(firstRevision(backup, NOW + 20_000)).toBeGreaterThan(first + 1_000_000)
})

it("continues from the revision in the file if the clock cannot be used", () => {
  const last = firstRevision(0, NOW)
  for (const wallMs of [0, NOW - HOUR_MS, NOW, Date.UTC(9_999, 0)]) {
    expect(firstRevision(last, wallMs)).toBe(last + 2 ** 32)
  }
})

it("leaves revisions for a century of epochs, even with one every second", () => {
  let revision = 0
  for (let year = 2026; year < 2126; year += 1) {
    const at = Date.UTC(year, 0)
    for (let second = 0; second < 100; second += 1) {
      const next = firstRevision(revision, at + second * 1_000)
      expect(next).toBeGreaterThan(revision)
      revision = next
    }
  }
  expect(revision).toBeLessThan(Number.MAX_SAFE_INTEGER)
  expect(Math.floor((Number.MAX_SAFE_INTEGER - revision) / 2 ** 32)).toBeGreaterThan(100_000)
})
