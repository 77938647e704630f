import { describe, expect, it } from "vitest"
import { NOTHING_YET, OPENING_BALANCE, type Statement, withTransfer } from "./bank-account.js"
import { Books } from "./books.js"

describe("the books", () => {
  it("have no complaint about an account with just what was acknowledged", () => {
    const books = booksWith([1, 10], [4, -3])
    expect(books.problemsOf("a", statement(OPENING_BALANCE + 7, [1, 4]))).toEqual([])
    expect(books.problemsOf("b", statement(OPENING_BALANCE, []))).toEqual([])
    expect(books.total).toBe(2 * OPENING_BALANCE)
  })

  it.each([
    ["is missing", [1]],
    ["is there twice", [1, 4, 4]],
    ["is there in place of another", [1, 5]],
    ["came in another order", [4, 1]],
  ])("notice a transfer that %s, whatever the balance says", (_, numbers) => {
    const books = booksWith([1, 10], [4, -3])
    const problems = books.problemsOf("a", statement(OPENING_BALANCE + 7, numbers))
    expect(problems).toEqual([
      `a has ${numbers.length} transfers of t, and 2 were acknowledged; they are not the same ones`,
    ])
  })

  it("notice a balance that is off, and transfers of a teller that nobody knows", () => {
    const books = booksWith()
    expect(books.problemsOf("a", statement(OPENING_BALANCE - 1, []))).toEqual([
      "a has 999, and should have 1000",
    ])
    expect(books.problemsOf("a", statement(OPENING_BALANCE, [1]))).toHaveLength(1)
  })

  it("do not mind a refusal, which changes nothing but the last number", () => {
    const refused: Statement = {
      ...statement(OPENING_BALANCE, []),
      tellers: { t: { ...NOTHING_YET, last: 9, accepted: false } },
    }
    expect(booksWith().problemsOf("a", refused)).toEqual([])
  })
})

function booksWith(...transfers: readonly (readonly [number: number, change: number])[]): Books {
  const books = new Books(["a", "b"])
  for (const [number, change] of transfers) books.acknowledged("a", { teller: "t", number }, change)
  return books
}

function statement(balance: number, numbers: readonly number[]): Statement {
  const tellers = numbers.length === 0 ? {} : { t: numbers.reduce(withTransfer, NOTHING_YET) }
  return { balance, tellers, generation: 1 }
}
