import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { startTestSystem } from "../../test/fake/test-system.js"
import { Behaviors } from "./behaviors.js"
import { drain } from "./drain.js"
import type { LocalRef } from "./local-ref.js"
import { PostStop } from "./signals.js"

test("an actor that is drained handles what it has, refuses what comes, and stops", async () => {
  const { system, deadLetters } = await startTestSystem()
  const handled: string[] = []
  const turns: (() => void)[] = []
  const ref = system.spawn(
    Behaviors.receive<string>(
      async (_context, message) => {
        await new Promise<void>((resolve) => turns.push(resolve))
        handled.push(message)
        return Behaviors.same
      },
      (_context, signal) => {
        if (signal instanceof PostStop) handled.push("stopped")
        return Behaviors.same
      },
    ),
  ) as LocalRef<string>
  for (const message of ["a", "b", "c"]) ref.tell(message)
  await settle()
  drain(ref.cell)
  drain(ref.cell)
  ref.tell("late")
  for (let turn = 0; turn < 3; turn += 1) {
    turns.shift()?.()
    await settle()
  }
  expect(handled).toEqual(["a", "b", "c", "stopped"])
  expect(deadLetters.map(({ message, reason }) => ({ message, reason }))).toEqual([
    { message: "late", reason: "stopped" },
  ])
  await system.stop()
})
