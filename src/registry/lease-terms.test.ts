import { expect, test } from "vitest"
import { encodeTerms, holderMs, observerMs, termsToWatch } from "./lease-terms.js"

const usual = { ttlMs: 5_000, driftMargin: 0.1 }

test("a lease is watched by its own ttl, and by the larger margin of the two", () => {
  expect(termsToWatch(encodeTerms(usual), { ttlMs: 1_000, driftMargin: 0.2 })).toEqual({
    ttlMs: 5_000,
    driftMargin: 0.2,
  })
  expect(termsToWatch(encodeTerms({ ttlMs: 60_000, driftMargin: 0.25 }), usual)).toEqual({
    ttlMs: 60_000,
    driftMargin: 0.25,
  })
})

test("an observer waits for longer than the holder acts, whatever the settings of both", () => {
  for (const ttlMs of [100, 1_500.5, 5_000, 86_400_000]) {
    for (const driftMargin of [0.01, 0.1, 0.5]) {
      const holder = { ttlMs, driftMargin }
      for (const own of [usual, { ttlMs: 100, driftMargin: 0.01 }]) {
        const watched = termsToWatch(encodeTerms(holder), own)
        expect(observerMs(watched)).toBeGreaterThanOrEqual(ttlMs * (1 + driftMargin))
        expect(observerMs(watched)).toBeGreaterThan(holderMs(holder))
      }
    }
  }
})

test.each(["", "x", "5000", "-1 0.1", "5000 nan", "5000 0"])(
  "a lease with the value %j is watched by the own terms",
  (text) => {
    expect(termsToWatch(Buffer.from(text), usual)).toBe(usual)
  },
)
