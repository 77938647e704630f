import fc from "fast-check"
import { expect, test } from "vitest"
import { DeferredQueue, type Queueable } from "./deferred-queue.js"

interface Step {
  readonly kind: "push" | "shift" | "trim" | "expire" | "take-all" | "withdraw"
  readonly pick: number
  readonly afterMs: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant("push" as const) },
    { weight: 4, arbitrary: fc.constant("withdraw" as const) },
    { weight: 3, arbitrary: fc.constantFrom("shift" as const, "trim" as const, "expire" as const) },
    { weight: 1, arbitrary: fc.constant("take-all" as const) },
  ),
  pick: fc.nat(500),
  afterMs: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 50, noNaN: true })),
})

test("does what a plain list does", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: "max" }), (steps) => {
      const all = { count: 5 }
      const queue = new DeferredQueue<NumberedMessage>(all)
      const model = new ListQueue()
      const made: NumberedMessage[] = []
      let now = 0
      for (const { kind, pick, afterMs } of steps) {
        now += afterMs
        if (kind === "push") {
          const message = { number: made.length, bytes: pick, isWaiting: false }
          made.push(message)
          queue.push(message, now)
          model.push(message, now)
        } else
          expect(performed(queue, kind, made, pick, now)).toEqual(performed(model, kind, made, pick, now))
        expect([queue.size, queue.bytes, queue.oldest]).toEqual([model.size, model.bytes, model.oldest])
        expect(all.count).toBe(5 + model.size)
        expect(made.filter(({ isWaiting }) => isWaiting).length).toBe(model.size)
      }
      expect(queue.takeAll()).toEqual(model.takeAll())
      expect(all.count).toBe(5)
    }),
    { numRuns: 50 },
  )
})

test("a great many that are withdrawn, in whatever order, leave those that stay in theirs", () => {
  const queue = new DeferredQueue<NumberedMessage>({ count: 0 })
  const messages = Array.from({ length: 5_000 }, (_, number) => ({ number, bytes: 1, isWaiting: false }))
  for (const message of messages) queue.push(message, message.number)
  for (const message of messages.toReversed()) if (message.number % 10 !== 3) queue.withdraw(message)
  expect(queue.size).toBe(500)
  expect(queue.takeAll().map(({ number }) => number)).toEqual(
    Array.from({ length: 500 }, (_, n) => 10 * n + 3),
  )
})

test("what has waited exactly as long as it may is over, whatever fractions say", () => {
  for (const since of [0.1, 0.3, 1 / 3, 12_345.678_9]) {
    const queue = new DeferredQueue<NumberedMessage>({ count: 0 })
    queue.push({ number: 0, bytes: 1, isWaiting: false }, since)
    const due = (queue.oldest as number) + 30_000
    expect(queue.expire(30_000, due).length).toBe(1)
  }
})

test("all queues of a system count together", () => {
  const all = { count: 0 }
  const queues = [new DeferredQueue<NumberedMessage>(all), new DeferredQueue<NumberedMessage>(all)]
  const messages = queues.map((queue, number) => {
    const message = { number, bytes: 1, isWaiting: false }
    queue.push(message, 0)
    return message
  })
  expect(all.count).toBe(2)
  expect(queues[1]?.withdraw(messages[1] as NumberedMessage)).toBe(true)
  expect(all.count).toBe(1)
  expect(queues[0]?.shift()).toBe(messages[0])
  expect(all.count).toBe(0)
})

interface NumberedMessage extends Queueable {
  readonly number: number
}

function performed(
  queue: DeferredQueue<NumberedMessage> | ListQueue,
  kind: Exclude<Step["kind"], "push">,
  made: readonly NumberedMessage[],
  pick: number,
  now: number,
): unknown {
  switch (kind) {
    case "shift":
      return queue.shift()?.number
    case "trim":
      return queue.trim(pick % 40).map(({ number }) => number)
    case "expire":
      return queue.expire(pick, now).map(({ number }) => number)
    case "take-all":
      return queue.takeAll().map(({ number }) => number)
    case "withdraw": {
      const message = made[pick % Math.max(1, made.length)]
      return message !== undefined && queue.withdraw(message)
    }
  }
}

/** The same, as plainly as it can be said. The real queue acts first; `isWaiting` is its own. */
class ListQueue {
  #list: { readonly message: NumberedMessage; readonly since: number }[] = []

  get size(): number {
    return this.#list.length
  }

  get bytes(): number {
    return this.#list.reduce((sum, { message }) => sum + message.bytes, 0)
  }

  get oldest(): number | undefined {
    return this.#list[0]?.since
  }

  push(message: NumberedMessage, since: number): void {
    this.#list.push({ message, since })
  }

  shift(): NumberedMessage | undefined {
    return this.#list.shift()?.message
  }

  trim(size: number): NumberedMessage[] {
    return this.#list.splice(size).map(({ message }) => message)
  }

  expire(ms: number, now: number): NumberedMessage[] {
    const expired = this.#list.filter(({ since }) => since + ms <= now)
    this.#list = this.#list.filter(({ since }) => since + ms > now)
    return expired.map(({ message }) => message)
  }

  takeAll(): NumberedMessage[] {
    return this.#list.splice(0).map(({ message }) => message)
  }

  withdraw(message: NumberedMessage): boolean {
    const before = this.#list.length
    this.#list = this.#list.filter((one) => one.message !== message)
    return this.#list.length < before
  }
}
