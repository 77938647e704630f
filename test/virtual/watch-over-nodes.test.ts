import { expect, test } from "vitest"
import {
  Actor,
  type ActorRef,
  Behaviors,
  memoryStore,
  NodeUnreachableError,
  provide,
  type Terminated,
} from "../../src/index.js"
import { noFaults, runSeed, startSystem, type Workload } from "../../src/sim/index.js"
import { startNode, type TestNode } from "../remote/nodes.js"
import { notice, recorded, until } from "../remote/support/until.js"
import { watchersOf } from "./watched-ref.js"

type ToFront = { readonly ask: "name"; readonly replyTo: ActorRef<string> } | "leave" | "fail"

function front(name: string) {
  return Behaviors.receive<ToFront>((_context, message) => {
    if (message === "leave") return Behaviors.stopped
    if (message === "fail") throw new RangeError("as told")
    message.replyTo.tell(name)
    return Behaviors.same
  })
}

interface Journal {
  push(...lines: string[]): unknown
}

/** A room whose members are refs of other nodes. It keeps them in its state, and notices when one ends. */
class Room extends Actor<{ members: Map<string, ActorRef<ToFront>> }, Journal> {
  static readonly type = "Room"

  protected override initialState() {
    return { members: new Map() }
  }

  protected override onActivate() {
    for (const [name, member] of this.state.members) this.#watchMember(name, member)
  }

  async join(member: ActorRef<ToFront>) {
    const name = await this.ask<ToFront, string>(member, (replyTo) => ({ ask: "name", replyTo }))
    this.state.members.set(name, member)
    this.#watchMember(name, member)
    await this.save()
    return name
  }

  members() {
    return [...this.state.members.keys()]
  }

  close() {
    this.deactivate()
  }

  #watchMember(name: string, member: ActorRef<never>) {
    this.watch(member, (terminated) => this.#left(name, terminated))
  }

  async #left(name: string, { cause }: Terminated) {
    this.state.members.delete(name)
    await this.save()
    this.dependencies.push(`${name} left${cause instanceof Error ? `: ${cause.name}` : ""}`)
  }
}

/** Starts a node that hosts rooms, and one that has the fronts. */
async function pair(): Promise<{ rooms: TestNode; fronts: TestNode; journal: string[] }> {
  const journal = recorded<string>()
  const shared = { store: memoryStore(), lease: { deathProof: false } }
  const rooms = await startNode({ ...shared, actors: [provide(Room, journal)], unreachableAfterMs: 100 })
  const fronts = await startNode(shared)
  await until("both see both", () =>
    [rooms, fronts].every((node) => node.system.cluster.members.length === 2),
  )
  return { rooms, fronts, journal }
}

test("an actor asks an actor of another node, and notices its end there, with the cause", async () => {
  const { fronts, journal } = await pair()
  const room = fronts.system.actor(Room, "lobby")
  const [ada, bob] = ["ada", "bob"].map((name) => fronts.system.spawn(front(name), name))
  expect(await room.join(ada as ActorRef<ToFront>)).toBe("ada")
  expect(await room.join(bob as ActorRef<ToFront>)).toBe("bob")
  ada?.tell("fail")
  await until("ada has left", () => journal.length === 1)
  bob?.tell("leave")
  await until("bob has left", () => journal.length === 2)
  expect([journal, await room.members()]).toEqual([["ada left: RangeError", "bob left"], []])
})

test("a node that vanishes ends the watches of its actors, and the cause says so", async () => {
  const { rooms, fronts, journal } = await pair()
  const ada = fronts.system.spawn(front("ada"), "ada")
  await fronts.system.actor(Room, "lobby").join(ada)
  fronts.unplug()
  await until("ada has left", () => journal.length === 1)
  expect(journal).toEqual([`ada left: ${NodeUnreachableError.name}`])
  expect(await rooms.system.actor(Room, "lobby").members()).toEqual([])
})

test("an activation that has ended watches nothing on other nodes; the next one learns what it missed", async () => {
  const { fronts, journal } = await pair()
  const [ada, bob] = ["ada", "bob"].map((name) => fronts.system.spawn(front(name), name)) as [
    ActorRef<ToFront>,
    ActorRef<ToFront>,
  ]
  const open = watchersOf(ada, notice)
  const room = fronts.system.actor(Room, "lobby")
  await room.join(ada)
  await room.join(bob)
  await until("the room watches ada", () => open.size === 1)
  await room.close()
  await until("nobody watches ada", () => open.size === 0)
  await fronts.system.stopActor(bob)
  expect(await room.members()).toEqual(["ada", "bob"])
  await until("bob has left", () => journal.length === 1)
  expect([journal, await room.members()]).toEqual([["bob left"], ["ada"]])
  await until("the room watches ada again", () => open.size === 1)
})

test("the crash of a simulated machine is noticed by the actors of all others that watch its refs", async () => {
  const journals = new Map<string, string[]>(MACHINES.map((machine) => [machine, []]))
  let lines: unknown
  const workload: Workload = {
    name: "watch-over-nodes",
    about: "",
    faults: [],
    async run(stage) {
      const store = stage.store()
      const joined = new Map<string, Awaited<ReturnType<typeof startSystem>>>()
      for (const machine of MACHINES) {
        stage.start(machine, async (life) => {
          const journal = journals.get(machine) as string[]
          const system = await startSystem(life, {
            namespace: "test",
            actors: machine === "fronts" ? [] : [provide(Room, journal)],
            listen: { host: life.host, port: 4_000, secret: "0123456789abcdef" },
            store: store.provider(life),
          })
          joined.set(machine, system)
        })
      }
      while (joined.size < MACHINES.length) await stage.sleep(50)
      await stage.sleep(500)
      const keys = Array.from({ length: 8 }, (_, index) => `room ${index}`)
      await stage.on("fronts", async () => {
        const system = joined.get("fronts") as Awaited<ReturnType<typeof startSystem>>
        const ada = system.spawn(front("ada"), "ada")
        for (const key of keys) await system.actor(Room, key).join(ada)
      })
      stage.crash("fronts")
      await stage.sleep(60_000)
      lines = [...journals.values()].flat()
    },
  }
  const { failure, tail } = await runSeed(workload, 1, { faults: noFaults(), keepTrace: 30 })
  expect(failure, tail.join("\n")).toBeUndefined()
  expect(lines).toEqual(Array.from({ length: 8 }, () => "ada left: NodeUnreachableError"))
  expect(journals.get("rooms 1")).not.toEqual([])
  expect(journals.get("rooms 2")).not.toEqual([])
  expect(journals.get("fronts")).toEqual([])
})

const MACHINES = ["rooms 1", "rooms 2", "fronts"]
