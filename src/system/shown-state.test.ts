import { expect, test } from "vitest"
import { shownState } from "./shown-state.js"

test("what JSON does not have is shown as text", () => {
  const state = {
    at: new Date(0),
    big: 7n,
    names: new Map([["a", 1]]),
    seen: new Set([1, 2]),
    bytes: new Uint8Array(3),
  }
  expect(shownState(state)).toEqual({
    json: '{"at":"1970-01-01T00:00:00.000Z","big":"7n","names":{"Map":[["a",1]]},"seen":{"Set":[1,2]},"bytes":"3 bytes"}',
    problem: undefined,
  })
})

test("a state that is too long, refers to itself or does not exist is not shown", () => {
  const endless: { self?: object } = {}
  endless.self = endless
  const problems = ["x".repeat(200_000), endless, undefined].map((state) => shownState(state))
  expect(problems.map(({ json }) => json)).toEqual([undefined, undefined, undefined])
  expect(problems.map(({ problem }) => problem)).toEqual([
    "it has 200002 characters, and at most 131072 are shown",
    expect.stringContaining("circular"),
    "there is none",
  ])
})
