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
      "half has to be taken of the messages and of the bytes",
      "enter 1 of 8000, enter 127, leave 1 of 8000, round, leave 63, round, enter 50, enter 2 of 7800, leave 100, round, leave 1 of 7800, round",
    ),
    scenario(
      "at twice the bytes it is full, and crowded until half of them are taken",
      "enter 2 of 8000, round, enter 1 of 15000, round, enter 1 of 1000, leave 1 of 1000, leave 1 of 15000, leave 1 of 8000",
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
  const actors = 30
  const [least, most] = [1, 300]
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ actor: fc.nat(actors - 1), weight: fc.constantFrom(least, least, 100, most) }),
    },
    { weight: 2, arbitrary: fc.record({ take: fc.nat(actors - 1) }) },
    { weight: 1, arbitrary: fc.constant("round" as const) },
  )
  const seen = new Set<string>()
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: "max" }), (steps) => {
      const terms = { messages: 10, bytes: 1_000 }
      const budget = new InboundBudget(terms)
      const mailboxes = Array.from({ length: actors }, (): number[] => [])
      const waiting = { messages: 0, bytes: 0 }
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
          waiting.messages -= 1
          waiting.bytes -= weight
          budget.leave(weight, 1)
        } else if (!budget.isHeld) {
          const mailbox = mailboxes[one.actor] as number[]
          if (mailbox.length > 0 && mailbox.length >= budget.room) continue
          mailbox.push(one.weight)
          waiting.messages += 1
          waiting.bytes += one.weight
          budget.enter(one.weight, false)
          if (budget.isHeld) hasMoved = false
          // Beyond this only an actor at rest gets one.
          if (mailbox.length > 1) {
            expect(waiting.messages).toBeLessThanOrEqual(2 * terms.messages)
            expect(waiting.bytes).toBeLessThan(2 * terms.bytes + most)
          }
        }
        expect(budget.waiting).toEqual(waiting)
        seen.add(budget.state)
      }
    }),
  )
  expect(seen).toEqual(new Set(["open", "crowded", "full"]))
})

const TERMS: InboundTerms = { messages: 128, bytes: 16_000 }
const HEAD = `A budget of ${TERMS.messages} messages and ${TERMS.bytes} bytes; a message has 10 bytes unless it says so.
Room is how many messages may be ahead of the next one in its mailbox, and how many bytes the mailbox may then hold.
`

function scenario(name: string, steps: string): string {
  const budget = new InboundBudget(TERMS)
  const lines = steps.split(", ").map((step) => {
    const [, what, count = "1", , weight = "10"] =
      /^(\w+)(?: (\d+))?( of (\d+))?( pressed)?$/.exec(step) ?? []
    let said = ""
    if (what === "round") said = budget.round() ? "-> read on" : "-> hold on"
    if (what === "leave") budget.leave(Number(weight), Number(count))
    for (let left = what === "enter" ? Number(count) : 0; left > 0; left -= 1) {
      const wasHeld = budget.isHeld
      budget.enter(Number(weight), step.endsWith(" pressed"))
      if (budget.isHeld && !wasHeld) said = left === 1 ? "-> hold" : `-> hold, ${left - 1} early`
    }
    const { messages, bytes } = budget.waiting
    const state = `${budget.state}${budget.isHeld ? ", held" : ""}`
    const room = `room ${budget.room} of ${budget.roomBytes}`
    return `  ${step.padEnd(20)} ${String(messages).padStart(5)} ${String(bytes).padStart(7)}  ${state.padEnd(14)} ${room.padEnd(21)} ${said}`.trimEnd()
  })
  return `# ${name}\n${lines.join("\n")}\n`
}
