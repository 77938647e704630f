import { expect, test } from "vitest"
import { Actor, TimeoutError, withOptions } from "../../src/index.js"
import { NODES, onThreeNodes } from "./troupe.js"

class Echo extends Actor {
  static readonly type = "Echo"

  async say(number: number) {
    // Later calls may be answered before earlier ones.
    await new Promise((resolve) => setTimeout(resolve, (number * 7) % 13))
    return `${this.key}: ${number}`
  }

  async never() {
    await new Promise(() => {})
  }
}

test("each of 1,000 concurrent calls gets its own answer", async () => {
  await onThreeNodes([Echo], async ({ on }) => {
    const answers = await on("a", (system) =>
      Promise.all(
        Array.from({ length: 1_000 }, (_, number) => system.actor(Echo, `echo-${number % 50}`).say(number)),
      ),
    )
    const expected = Array.from({ length: 1_000 }, (_, number) => `echo-${number % 50}: ${number}`)
    expect(answers).toEqual(expected)
  })
})

test("a call that is not answered ends after its timeout, and at most a tenth later", async () => {
  await onThreeNodes([Echo], async ({ on, stage }) => {
    for (const timeoutMs of [100, 250, 1_000, 5_000]) {
      for (const node of NODES) {
        const beganMs = stage.nowMs
        const error = await on(node, (system) =>
          withOptions(system.actor(Echo, `silent-${node}-${timeoutMs}`), { timeoutMs })
            .never()
            .catch((reason: unknown) => reason),
        )
        const tookMs = stage.nowMs - beganMs
        expect(error).toBeInstanceOf(TimeoutError)
        expect(tookMs).toBeGreaterThanOrEqual(timeoutMs)
        expect(tookMs).toBeLessThanOrEqual(timeoutMs * 1.1 + 1)
      }
    }
  })
})
