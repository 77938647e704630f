import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { InboundBudget, type InboundTerms } from "./inbound-budget.js"

test("decides as its scenarios tell", async () => {
  const scenarios = [
    scenario(
      "reading is held at the limit, and goes on at half of it",
      "enter 127, enter 1, leave 1, round, leave 62, round, leave 1, round, enter 1",
    ),
    scenario(
      "what nobody takes does not hold it: the answer that its actors wait for may come next",
      "enter 128, round, enter 1, enter 1, round, round",
    ),
    scenario(
      "a crowded connection reads a little at a time, as fast as that is taken, until half is free",
      "enter 128, round, enter 2, leave 1, round, leave 1, round, leave 63, enter 1, leave 2, enter 60",
    ),
    scenario(
      "at twice the limit it is full",
      "enter 128, round, enter 2, round, enter 126, leave 1, leave 191",
    ),
    scenario(
      "a mailbox that is half full holds it for as long as something is taken",
      "enter 9, enter 1 pressed, leave 1, round, leave 4, round, enter 1 pressed, round",
    ),
    scenario(
      "one actor that does not keep up leaves room for the others",
      "enter 90, enter 38, leave 38, round, round, enter 38",
    ),
    scenario(
      "bytes count as messages do",
      "enter 1 of 12000, enter 1 of 4000, leave 1 of 12000, round, enter 1 of 12000, round, leave 1 of 12000",
    ),
  ]
  const golden = join(import.meta.dirname, "inbound-budget.golden.txt")
  await expect(`${HEAD}\n${scenarios.join("\n")}`).toMatchFileSnapshot(golden)
})

test("however messages come and go: no hold outlasts a round in which nothing left, and what waits is bounded", () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ actor: fc.nat(3), weight: fc.integer({ min: 1, max: 300 }) }) },
    { weight: 3, arbitrary: fc.record({ take: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.constant("round" as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 2_000 }), (steps) => {
      const terms = { messages: 128, bytes: 16_384 }
      const budget = new InboundBudget(terms)
      const mailboxes: number[][] = [[], [], [], []]
      let hasMoved = true
      for (const one of steps) {
        if (one === "round") {
          const isHeld = budget.isHeld && !budget.round()
          expect(isHeld && !hasMoved).toBe(false)
          hasMoved = false
        } else if ("take" in one) {
          const weight = mailboxes[one.take]?.shift()
          if (weight === undefined) continue
          hasMoved = true
          budget.leave(weight, 1)
        } else if (!budget.isHeld) {
          const mailbox = mailboxes[one.actor] as number[]
          if (mailbox.length > 0 && mailbox.length >= budget.room) continue
          mailbox.push(one.weight)
          budget.enter(one.weight, false)
          if (budget.isHeld) hasMoved = false
        }
        const all = mailboxes.flat()
        const bytes = all.reduce((sum, weight) => sum + weight, 0)
        expect(budget.waiting).toEqual({ messages: all.length, bytes })
        expect(all.length).toBeLessThanOrEqual(2 * terms.messages + mailboxes.length)
      }
    }),
  )
})

const TERMS: InboundTerms = { messages: 128, bytes: 16_000 }
const HEAD = `A budget of ${TERMS.messages} messages and ${TERMS.bytes} bytes; a message has 10 bytes unless it says so.
`

function scenario(name: string, steps: string): string {
  const budget = new InboundBudget(TERMS)
  const lines = steps.split(", ").map((step) => {
    const [, what, count = "1", , weight = "10"] =
      /^(\w+)(?: (\d+))?( of (\d+))?( pressed)?$/.exec(step) ?? []
    let said = ""
    if (what === "round") said = budget.round() ? "-> read on" : "-> hold on"
    for (let left = what === "round" ? 0 : Number(count); left > 0; left -= 1) {
      const wasHeld = budget.isHeld
      if (what === "leave") budget.leave(Number(weight), 1)
      else budget.enter(Number(weight), step.endsWith(" pressed"))
      if (budget.isHeld && !wasHeld) said = left === 1 ? "-> hold" : `-> hold, ${left - 1} early`
    }
    const { messages, bytes } = budget.waiting
    const state = `${budget.state}${budget.isHeld ? ", held" : ""}`
    return `  ${step.padEnd(20)} ${String(messages).padStart(5)} ${String(bytes).padStart(7)}  ${state.padEnd(14)} ${said}`.trimEnd()
  })
  return `# ${name}\n${lines.join("\n")}\n`
}
