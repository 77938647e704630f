import { expect, test } from "vitest"
import { Actor, type ActorRef, type ActorSystem, Behaviors } from "../../src/index.js"
import { faultKinds, type Stage, simulate, startSystem, type Workload } from "../../src/sim/index.js"
import { watchersOf } from "./watched-ref.js"

type ToGuest = { readonly nameFor: ActorRef<string> }

/** A room that keeps its guests in its state, and removes those that have ended. */
class Room extends Actor<{ guests: Map<string, ActorRef<ToGuest>> }> {
  static readonly type = "Room"
  static readonly idleAfterMs = 20_000

  protected override initialState() {
    return { guests: new Map() }
  }

  protected override onActivate() {
    for (const [name, guest] of this.state.guests) this.#watchGuest(name, guest)
  }

  async enter(guest: ActorRef<ToGuest>) {
    const name = await this.ask<ToGuest, string>(guest, (nameFor) => ({ nameFor }))
    if (!this.state.guests.has(name)) this.#watchGuest(name, guest)
    this.state.guests.set(name, guest)
    await this.save()
  }

  guests() {
    return [...this.state.guests.keys()]
  }

  #watchGuest(name: string, guest: ActorRef<ToGuest>) {
    this.watch(guest, async () => {
      this.state.guests.delete(name)
      await this.save()
    })
  }
}

const ROOMS = ["kitchen", "hall", "garden", "cellar"]
const MACHINES = ["a", "b", "c"]

const workload: Workload = {
  name: "watches",
  about: "rooms watch guests of all machines while these fail",
  faults: faultKinds.filter((kind) => kind !== "store-epoch"),
  async run(stage) {
    const systems = new Map<string, ActorSystem>()
    const guests = new Map<string, { readonly name: string; readonly watchers: ReadonlySet<object> }>()
    let lives = 0
    for (const machine of MACHINES) {
      stage.start(machine, async (life) => {
        const system = await started(() =>
          startSystem(life, {
            namespace: "test",
            actors: [Room],
            listen: { host: life.host, port: 4_000, secret: "0123456789abcdef" },
            store: stage.store().provider(life),
          }),
        )
        systems.set(machine, system)
        lives += 1
        const name = `guest ${lives} of ${machine}`
        const guest = system.spawn(guestNamed(name), "guest")
        guests.set(machine, { name, watchers: watchersOf(guest) })
        for (const room of ROOMS)
          system
            .actor(Room, room)
            .enter(guest)
            .catch(() => {})
      })
    }
    await stage.sleep(60_000)
    stage.calm()
    stage.heal()
    for (const machine of MACHINES) if (!stage.isUp(machine)) stage.boot(machine)
    await stage.sleep(60_000)
    // The first look starts the rooms that have ended, which then learn what they have missed.
    await look(stage, systems)
    await stage.sleep(15_000)
    const present = await look(stage, systems)
    for (const { name, watchers } of guests.values()) {
      const rooms = present.filter((guest) => guest === name).length
      stage.always("a guest is watched by the rooms that it is in", watchers.size === rooms, () => name)
    }
    const names = [...guests.values()].map(({ name }) => name)
    for (const guest of present) stage.always("a guest in a room lives", names.includes(guest), () => guest)
  },
}

function guestNamed(name: string) {
  return Behaviors.receive<ToGuest>((_context, { nameFor }) => {
    nameFor.tell(name)
    return Behaviors.same
  })
}

async function look(stage: Stage, systems: ReadonlyMap<string, ActorSystem>): Promise<string[]> {
  const system = systems.get("a") as ActorSystem
  const guests = await stage.on("a", () =>
    Promise.all(ROOMS.map((room) => system.actor(Room, room).guests())),
  )
  return guests.flat()
}

async function started(start: () => Promise<ActorSystem>): Promise<ActorSystem> {
  for (;;) {
    try {
      return await start()
    } catch {}
  }
}

test("a room keeps no guest that has ended, and no watcher outlives its room, whatever fails", async () => {
  const { failures, problems } = await simulate(workload, { seeds: 6 })
  expect(failures.map(({ seed, failure, tail }) => [seed, failure, ...tail.slice(-20)])).toEqual([])
  expect(problems).toEqual([])
})
