import { expect, test } from "vitest"
import {
  Actor,
  type ActorRef,
  AssociationConnected,
  type Behavior,
  Behaviors,
  withOptions,
} from "../../src/index.js"
import { NODES, type Node, onThreeNodes } from "./troupe.js"

class Echo extends Actor {
  static readonly type = "Echo"

  say(number: number) {
    return number
  }
}

const watchable: Behavior<unknown> = Behaviors.receive(() => Behaviors.same)

const watcherOf = (ref: ActorRef<never>): Behavior<never> =>
  Behaviors.setup((context) => {
    context.watch(ref)
    return Behaviors.receive(() => Behaviors.same)
  })

test.each([30_000, 90_000, 125_000])(
  "after a partition of %d ms, two nodes call each other's actors again as soon as the network heals",
  async (cutMs) => {
    await onThreeNodes([Echo], async ({ on, stage }) => {
      const keys = Array.from({ length: 12 }, (_, number) => `echo-${number}`)
      for (const key of keys) await on("a", (system) => system.actor(Echo, key).say(0))
      const mend = [stage.cut("a", "b"), stage.cut("b", "a")]
      const deadline = stage.nowMs + cutMs
      // Both nodes keep calling during the partition.
      const calling = ["a", "b"].map((node) =>
        on(node as Node, async (system) => {
          while (stage.nowMs < deadline) {
            const calls = keys.map((key) =>
              withOptions(system.actor(Echo, key), { timeoutMs: 3_000 })
                .say(1)
                .catch(() => undefined),
            )
            await Promise.all(calls)
            await new Promise((resolve) => setTimeout(resolve, 500))
          }
        }),
      )
      await Promise.all(calling)
      for (const heal of mend) heal()
      const mendedMs = stage.nowMs
      for (const node of NODES) {
        const answers = await on(node, (system) =>
          Promise.all(keys.map((key) => withOptions(system.actor(Echo, key), { timeoutMs: 30_000 }).say(2))),
        )
        expect(answers).toEqual(keys.map(() => 2))
      }
      expect(stage.nowMs - mendedMs).toBeLessThan(4_000)
    })
  },
)

test("a node that renews its lease is redialled without a pause if its actors are watched", async () => {
  await onThreeNodes(
    [Echo],
    async ({ on, stage }) => {
      const path = await on("b", (system) => system.spawn(watchable, "watched").path.toString())
      const connected: number[] = []
      await on("a", (system) => {
        system.events.subscribe(AssociationConnected, ({ authority }) => {
          if (path.includes(authority)) connected.push(stage.nowMs)
        })
        system.spawn(watcherOf(system.resolve(path)))
      })
      await stage.sleep(1_000)
      const mend = [stage.cut("a", "b"), stage.cut("b", "a")]
      await stage.sleep(120_000)
      for (const heal of mend) heal()
      const mendedMs = stage.nowMs
      await stage.sleep(40_000)
      const [again = Number.POSITIVE_INFINITY] = connected.filter((at) => at >= mendedMs)
      expect(again - mendedMs).toBeLessThan(4_500)
    },
    { unreachableAfterMs: 600_000 },
  )
})
