import { expect, test } from "vitest"
import { tellInChunks } from "./settled-chunks.js"

function counterThatLoses(lost: (number: number) => boolean) {
  let counted = 0
  return {
    tell: (number: number) => {
      if (!lost(number)) counted += 1
    },
    settle: async () => {
      const account = counted
      counted = 0
      return account
    },
    handled: (account: number) => account,
  }
}

test("accounts for every message", async () => {
  expect(
    await tellInChunks(
      2_001,
      counterThatLoses(() => false),
    ),
  ).toEqual([1_000, 1_000, 1])
})

test("fails if a single one is lost", async () => {
  const losing = counterThatLoses((number) => number === 1_500)
  await expect(tellInChunks(20_000, losing)).rejects.toThrow("1000 messages were told, 999 were handled")
})
