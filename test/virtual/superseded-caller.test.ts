import { expect, test } from "vitest"
import {
  Actor,
  type ActorRef,
  type ActorSystem,
  Behaviors,
  NodeFenced,
  preferLocal,
} from "../../src/index.js"
import { noFaults, runSeed, type Stage, startSystem, type Workload } from "../../src/sim/index.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"

const noted: number[] = []
let bookAt = ""

class Ledger extends Actor<number> {
  static readonly type = "Ledger"
  static readonly placement = preferLocal

  note(token: number) {
    noted.push(token)
  }
}

type Note = { readonly token: number; readonly replyTo: ActorRef<"noted"> }

/** What `Ledger` does, as a behavior. */
const book = Behaviors.receive<Note>((_context, { token, replyTo }) => {
  noted.push(token)
  replyTo.tell("noted")
  return Behaviors.same
})

class Speaker extends Actor<number> {
  static readonly type = "Speaker"
  static readonly placement = preferLocal

  async speak() {
    await this.actor(Ledger, "ledger").note(this.fencingToken)
    return this.fencingToken
  }

  async write(to: ActorRef<Note>) {
    await this.ask<Note, "noted">(to, (replyTo) => ({ token: this.fencingToken, replyTo }))
    return this.fencingToken
  }
}

/** Lets the speaker reach machine `c`: by a call, or by an ask. */
type Speech = (system: ActorSystem) => Promise<number>

const calls: Speech = (system) => system.actor(Speaker, "s").speak()
const asks: Speech = (system) => system.actor(Speaker, "s").write(system.resolve<Note>(bookAt))

/** Keeps the first speaker's call on its node until the node is frozen; returns what releases the call. */
type Obstacle = (stage: Stage, systems: ReadonlyMap<string, ActorSystem>) => Promise<() => void>

const noHost: Obstacle = async (stage, systems) => {
  stage.crash("c")
  while (systems.get("a")?.cluster.hosting("Ledger").length !== 0) await stage.sleep(10)
  return () => stage.boot("c")
}

const noConnection: Obstacle = async (stage) => {
  const cuts = [stage.cut("a", "c"), stage.cut("c", "a")]
  // Long enough for the connection to be closed.
  await stage.sleep(60_000)
  return () => {
    for (const heal of cuts) heal()
  }
}

for (const [name, speech, obstacle] of [
  ["a call that waited for a host of the callee's type", calls, noHost],
  ["a call that waited for a connection", calls, noConnection],
  ["an ask that waited for a connection", asks, noConnection],
] as const) {
  test(`${name} is not sent once its maker was superseded`, async () => {
    noted.length = 0
    const outcomes = await freezeSpeaker(speech, obstacle)
    expect(outcomes.fenced).toBe(true)
    expect(outcomes.first).toBe("Fenced")
    expect(noted).toEqual([outcomes.second])
  })
}

/**
 * A speaker on `a` makes a call or an ask that cannot leave; `a` freezes, the speaker runs on `b` and makes
 * one; then `a` resumes.
 */
async function freezeSpeaker(speech: Speech, obstacle: Obstacle) {
  let outcomes = { first: "pending" as string, second: 0, fenced: false }
  const workload: Workload = {
    name: "superseded-caller",
    about: "",
    faults: [],
    async run(stage) {
      const systems = new Map<string, ActorSystem>()
      const hosted: Record<string, readonly ActorClass[]> = { a: [Speaker], b: [Speaker], c: [Ledger] }
      for (const [machine, actors] of Object.entries(hosted)) {
        stage.start(machine, async (life) => {
          const system = await startSystem(life, {
            namespace: "test",
            actors,
            listen: { host: life.host, port: 4_000, secret: "0123456789abcdef" },
            store: stage.store().provider(life),
          })
          if (machine === "c") bookAt = system.spawn(book, "book").path.toString()
          systems.set(machine, system)
        })
      }
      while (systems.size < 3) await stage.sleep(50)
      await stage.sleep(500)
      const on = <T>(machine: string, task: (system: ActorSystem) => T | Promise<T>) =>
        stage.on(machine, () => task(systems.get(machine) as ActorSystem))
      await on("a", speech)
      noted.length = 0
      const release = await obstacle(stage, systems)
      void on("a", (system) => {
        system.events.subscribe(NodeFenced, () => {
          outcomes = { ...outcomes, fenced: true }
        })
        return speech(system)
      }).then(
        (token) => {
          outcomes = { ...outcomes, first: `answered ${token}` }
        },
        (error: { code: string }) => {
          outcomes = { ...outcomes, first: error.code }
        },
      )
      await stage.sleep(200)
      stage.pause("a", 9_000)
      await stage.sleep(7_000)
      const second = on("b", speech)
      await stage.sleep(1_000)
      release()
      outcomes = { ...outcomes, second: await second }
      await stage.sleep(40_000)
    },
  }
  const { failure, tail } = await runSeed(workload, 1, { faults: noFaults(), keepTrace: 30 })
  expect(failure, tail.join("\n")).toBeUndefined()
  return outcomes
}
