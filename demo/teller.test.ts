import { describe, expect, it } from "vitest"
import { TimeoutError } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { OPENING_BALANCE, type Receipt, type Slip } from "./bank-account.js"
import { Books } from "./books.js"
import { type Counter, Teller } from "./teller.js"

describe("a teller", () => {
  it("insists on a transfer with the same slip until it is answered", async () => {
    const asked: string[] = []
    const answers = ["lost", "yes", "lost", "lost", "yes"]
    await transferOnce((what, { number }) => {
      asked.push(`${what} ${number}`)
      return answers.shift() === "lost" ? lost() : yes()
    })
    expect(asked).toEqual(["withdraw 1", "withdraw 1", "deposit 1", "deposit 1", "deposit 1"])
  })

  it("deposits nothing that could not be withdrawn", async () => {
    const asked: string[] = []
    const { transferred } = await transferOnce((what) => {
      asked.push(what)
      return Promise.resolve({ accepted: false })
    })
    expect(asked).toEqual(["withdraw"])
    expect(transferred).toBe(0)
  })

  it("enters into the books what was acknowledged", async () => {
    const { books, transferred } = await transferOnce(() => yes())
    const off = books.accounts.flatMap((account) =>
      books.problemsOf(account, { balance: OPENING_BALANCE, tellers: {}, generation: 1 }),
    )
    // Both accounts have another balance by now, and a transfer.
    expect(off).toHaveLength(4)
    expect(transferred).toBe(1)
  })

  it("does not hide what is not a matter of calls", async () => {
    await expect(transferOnce(() => Promise.reject(new RangeError("a mistake")))).rejects.toThrow("a mistake")
  })
})

async function transferOnce(call: (what: "withdraw" | "deposit", slip: Slip) => Promise<Receipt>) {
  const books = new Books(["a", "b"])
  let transferred = 0
  let begun = 0
  const counter: Counter = {
    books,
    random: new SeededRandom(1),
    withdraw: (_, slip) => call("withdraw", slip),
    deposit: (_, slip) => call("deposit", slip),
    mayBegin: async () => {
      begun += 1
    },
    transferred: () => {
      transferred += 1
    },
    retried: () => {},
    isClosing: () => begun > 1,
    pause: async () => {},
  }
  await new Teller("t", counter).run()
  return { books, transferred }
}

function yes(): Promise<Receipt> {
  return Promise.resolve({ accepted: true })
}

function lost(): Promise<Receipt> {
  return Promise.reject(new TimeoutError("a", 1))
}
