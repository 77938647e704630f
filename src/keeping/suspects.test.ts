import { expect, test } from "vitest"
import { decodeFiring, encodeFiring, Suspects } from "./suspects.js"

test("the pause of a suspect doubles with each process that died, up to 10 minutes", () => {
  for (const [deaths, pauseMs] of [
    [0, 10_000],
    [1, 20_000],
    [5, 320_000],
    [6, 600_000],
    [60, 600_000],
  ] as const) {
    const suspects = new Suspects([{ key: "a", deaths, isInFlight: true }], 1_000)
    expect(suspects.isPaused("a", 999 + pauseMs)).toBe(true)
    expect(suspects.isPaused("a", 1_000 + pauseMs)).toBe(false)
    expect(suspects.nextAfter(0)).toBe(1_000 + pauseMs)
  }
})

test("a suspect that was not in flight when the keeper died is not held responsible", () => {
  const suspects = new Suspects([{ key: "a", deaths: 3, isInFlight: false }], 0)
  expect(suspects.deathsOf("a")).toBe(3)
  expect(suspects.record(["b"])).toEqual([
    { key: "b", deaths: 0, isInFlight: true },
    { key: "a", deaths: 3, isInFlight: false },
  ])
})

test("a record is read as it was written, and one of another version is nothing", () => {
  const recorded = [
    { key: "due/1/A/0/a/b", deaths: 0, isInFlight: true },
    { key: "due/1/A/0/ü/b", deaths: 7, isInFlight: false },
  ]
  expect(decodeFiring(encodeFiring(recorded))).toEqual(recorded)
  for (const text of ["", "{}", "[1]", "[[1, 2, 3]]", '[["a"]]'])
    expect(decodeFiring(Buffer.from(text))).toEqual([])
})
