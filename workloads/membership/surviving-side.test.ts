import { expect, test } from "vitest"
import { survivingSide } from "./surviving-side.js"
import type { StrategyName } from "./terms.js"

test.each<[StrategyName, string, string | undefined]>([
  ["majority", "abc de", "abc"],
  ["majority", "de abc", "abc"],
  ["majority", "bd ac", "ac"],
  ["majority", "ab cd e", undefined],
  ["majority", "ab c d", "ab"],
  ["quorum", "abc de", "abc"],
  ["quorum", "ab cd e", undefined],
  ["quorum", "ab cd", undefined],
  ["oldest", "ab ce d", "ce"],
  ["oldest", "abd e", "abd"],
  ["oldest", "a e", "e"],
  ["oldest", "a b e", undefined],
  ["oldest-even-alone", "abd e", "e"],
  ["all-down", "abcd e", undefined],
])("%s keeps of %s the side %s", (strategy, cut, kept) => {
  const sides = cut
    .split(" ")
    .map((side) => [...side].map((machine) => ({ machine, host: machine, age: -machine.charCodeAt(0) })))
  const quorum = Math.floor(sides.flat().length / 2) + 1
  const side = survivingSide({ strategy, quorum }, sides)
  expect(side?.map(({ machine }) => machine).join("")).toBe(kept)
})
