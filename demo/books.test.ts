import { describe, expect, it } from "vitest"
import { enter, OPENING_BALANCE, openedAccount, type Statement } from "./bank-account.js"
import { Books } from "./books.js"

type Decision = readonly [number: number, change: number | "refused"]

describe("the books", () => {
  const answers: readonly Decision[] = [
    [1, 10],
    [2, "refused"],
    [4, -3],
  ]

  it("have no complaint about an account with just what was answered", () => {
    const books = booksWith(answers)
    expect(books.problemsOf("a", statement(answers))).toEqual([])
    expect(books.problemsOf("b", statement([]))).toEqual([])
    expect(books.total).toBe(2 * OPENING_BALANCE)
  })

  it.each<[string, readonly Decision[]]>([
    ["is missing", [[1, 10]]],
    ["is there twice", [...answers, [4, 0]]],
    [
      "is there in place of another",
      [
        [1, 10],
        [5, -3],
      ],
    ],
    [
      "came in another order",
      [
        [4, -3],
        [1, 10],
      ],
    ],
    [
      "was refused and is there",
      [
        [1, 10],
        [2, 0],
        [4, -3],
      ],
    ],
  ])("notice a transfer that %s, whatever the balance says", (_, decisions) => {
    const found = { ...statement(decisions), balance: OPENING_BALANCE + 7 }
    const count = decisions.filter(([, change]) => change !== "refused").length
    expect(booksWith(answers).problemsOf("a", found)).toEqual([
      `a has ${count} transfers of t, and 2 were acknowledged; they are not the same ones`,
    ])
  })

  it("notice a refusal that was forgotten, so that a late attempt could be accepted", () => {
    expect(booksWith([[1, "refused"]]).problemsOf("a", statement([]))).toHaveLength(1)
  })

  it("notice a balance that is off, and transfers of a teller that nobody knows", () => {
    const off = { ...statement([]), balance: OPENING_BALANCE - 1 }
    expect(booksWith([]).problemsOf("a", off)).toEqual(["a has 999, and should have 1000"])
    expect(booksWith([]).problemsOf("a", statement([[1, 0]]))).toHaveLength(1)
  })
})

function booksWith(decisions: readonly Decision[]): Books {
  const books = new Books(["a", "b"])
  for (const [number, change] of decisions) books.answered("a", { teller: "t", number, amount: 1 }, change)
  return books
}

function statement(decisions: readonly Decision[]): Statement {
  const account = openedAccount()
  for (const [number, change] of decisions) enter(account, { teller: "t", number, amount: 1 }, change)
  return { ...account, generation: 1 }
}
