import { expect, test } from "vitest"
import {
  type ActorRef,
  type ActorSystem,
  Behaviors,
  MemberDowned,
  MemberRemoved,
  NodeUnreachableError,
  Terminated,
} from "../../src/index.js"
import { noFaults, runSeed, type Stage, startSystem } from "../../src/sim/index.js"

test.each([
  ["seeds", MemberDowned],
  ["store", MemberRemoved],
] as const)(
  "by %s, the actors of a node that is out are terminated for their watchers while its connection hangs",
  async (by, event) => {
    const told: { readonly what: string; readonly atMs: number }[] = []
    const { failure } = await runSeed(
      {
        name: "removed-watch",
        about: "a node that falls silent, and whose connections stay open",
        async run(stage) {
          const systems = begin(stage, by)
          await stage.sleep(15_000)
          const tell = (what: string) => told.push({ what, atMs: stage.nowMs })
          const watch = (name: string) =>
            stage.on("a", () => {
              const a = systems.get("a") as ActorSystem
              const watched = a.resolve(`troupe://watched@${stage.hostOf("c")}:2550/user/${name}`)
              a.spawn(watcherOf(watched, (cause) => tell(`${name}: ${cause}`)))
            })
          systems.get("a")?.events.subscribe(event, ({ node }) => tell(`out: ${node.host}`))
          await stage.on("c", () => systems.get("c")?.spawn(idle, "early"))
          await watch("early")
          await stage.sleep(1_000)
          stage.pause("c", 100_000)
          // The node will never say whether it has this one.
          await watch("late")
          await stage.sleep(30_000)
          const [{ atMs } = { atMs: 0 }, ...others] = told
          const out = `out: ${stage.hostOf("c")}`
          expect(told.map(({ what }) => what).sort()).toEqual(["early: removed", "late: removed", out])
          for (const other of others) expect(other.atMs - atMs).toBeLessThan(10)
        },
      },
      1,
      { faults: noFaults() },
    )
    expect(failure).toBeUndefined()
  },
)

function begin(stage: Stage, by: "seeds" | "store"): ReadonlyMap<string, ActorSystem> {
  const systems = new Map<string, ActorSystem>()
  for (const machine of ["a", "b", "c"]) {
    stage.start(machine, async (life) => {
      const source =
        by === "seeds"
          ? { seeds: [`${stage.hostOf("a")}:2550`] }
          : { store: stage.store().provider(life), lease: { deathProof: false } }
      const listen = { host: life.host, port: 2_550, secret: "a secret of three nodes" }
      // Nothing but membership would notice for minutes.
      const keepAlive = { intervalMs: 100_000, timeoutMs: 300_000 }
      const settings = { namespace: "watched", listen, keepAlive, unreachableAfterMs: 300_000, ...source }
      systems.set(machine, await startSystem(life, settings))
    })
  }
  return systems
}

const idle = Behaviors.receive(() => Behaviors.same)

/** Watches an actor, and says why the node of that actor is gone. */
function watcherOf(watched: ActorRef<never>, ended: (cause: string) => void) {
  return Behaviors.setup((context) => {
    context.watch(watched)
    return Behaviors.receive(
      () => Behaviors.same,
      (_, signal) => {
        if (signal instanceof Terminated && signal.cause instanceof NodeUnreachableError)
          ended(/gone \((.*)\)/.exec(signal.cause.message)?.[1] ?? "?")
        return Behaviors.same
      },
    )
  })
}
