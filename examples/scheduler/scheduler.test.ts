import { randomUUID } from "node:crypto"
import { ActorSystem, memoryStore } from "troupe"
import { noFaults, runSeed, simulate } from "troupe/sim"
import { expect, test } from "vitest"
import { Inbox } from "./inbox.js"
import { type Job, Remindable, Scheduler, schedulerOf } from "./scheduler.js"
import { tickAll } from "./ticking.js"
import { jobs, SchedulerCluster } from "./workload.js"

test("a job is done after a restart, and only once it is due", async () => {
  const settings = { namespace: "jobs", actors: [Scheduler, Inbox] as const, store: memoryStore() }
  const first = await ActorSystem.start(settings)
  await schedule(first, job("now", { atMs: Date.now() }))
  await schedule(first, job("later", { atMs: Date.now() + 3_600_000 }))
  await first.stop()

  const second = await ActorSystem.start(settings)
  for (const id of ["now", "later"]) await tick(second, id)
  const received = await second.actor(Inbox, "ada").received()
  expect([...received.keys()]).toEqual(["now"])
  await second.stop()
})

test("a job that was cancelled is not scheduled by a late attempt", async () => {
  const system = await ActorSystem.start({ namespace: "jobs", actors: [Scheduler, Inbox] })
  const call = job("call", { atMs: Date.now() })
  const scheduler = system.actor(Scheduler, schedulerOf(call.id))
  await scheduler.schedule(call)
  expect(await scheduler.cancel(call.id)).toBe(true)
  expect(await scheduler.cancel(call.id), "again").toBe(true)
  await scheduler.schedule(call)
  await scheduler.tick()
  expect(await system.actor(Inbox, "ada").received()).toEqual(new Map())

  await schedule(system, job("done", { atMs: Date.now() }))
  await tick(system, "done")
  expect(await system.actor(Scheduler, schedulerOf("done")).cancel("done")).toBe(false)
  await system.stop()
})

test("a job that does not fit into the state is refused, each time it is scheduled", async () => {
  const system = await ActorSystem.start({
    namespace: "jobs",
    actors: [Scheduler, Inbox],
    maxStateBytes: 1_000,
  })
  const scheduler = system.actor(Scheduler, "0")
  const large = { ...job("large", { atMs: Date.now() }), about: "x".repeat(1_000) }
  await expect(scheduler.schedule(large)).rejects.toThrow("1000")
  await expect(scheduler.schedule(large)).rejects.toThrow("1000")
  await scheduler.schedule(job("small", { atMs: Date.now() }))
  await scheduler.tick()
  expect([...(await system.actor(Inbox, "ada").received()).keys()]).toEqual(["small"])
  await system.stop()
})

/** Schedules its next job while it does one. */
class Clockwork extends Remindable<string[]> {
  static readonly type = "Clockwork"

  protected override initialState(): string[] {
    return []
  }

  override async remind(id: string): Promise<void> {
    if (this.state.includes(id)) return
    const next = { id: `${id}+`, atMs: Date.now(), type: Clockwork.type, key: this.key, about: "" }
    await this.actor(Scheduler, "0").schedule(next)
    this.state.push(id)
    await this.save()
  }

  done(): string[] {
    return this.state
  }
}

test("an actor schedules its next job while it does one", async () => {
  const system = await ActorSystem.start({ namespace: "jobs", actors: [Scheduler, Clockwork] })
  const scheduler = system.actor(Scheduler, "0")
  await scheduler.schedule({ ...job("a", { atMs: Date.now() }), type: Clockwork.type })
  await scheduler.tick()
  await scheduler.tick()
  expect(await system.actor(Clockwork, "ada").done()).toEqual(["a", "a+"])
  await system.stop()
})

/** Reports the jobs that it does. */
class Bell extends Remindable {
  static readonly type = "Bell"
  static onRing: (about: string) => void = () => {}

  override async remind(_id: string, about: string): Promise<void> {
    Bell.onRing(about)
  }
}

test("a node does the jobs that are due for as long as it ticks", async () => {
  const rung = new Promise((resolve) => {
    Bell.onRing = resolve
  })
  const system = await ActorSystem.start({ namespace: "jobs", actors: [Scheduler, Bell] })
  const ending = new AbortController()
  const ticking = tickAll(system, 1_000, ending.signal)

  const id = randomUUID()
  const dinner = { id, atMs: Date.now(), type: Bell.type, key: "kitchen", about: "dinner" }
  await system.actor(Scheduler, schedulerOf(id)).schedule(dinner)
  expect(await rung).toBe("dinner")

  ending.abort()
  await ticking
  await system.stop()
})

test("a job in 24 hours is done even if everything restarts", async () => {
  const DAY_MS = 24 * 60 * 60_000
  const workload = {
    name: "a day",
    about: "all machines are down for a day",
    limits: { virtualMs: 2 * DAY_MS },
    async run(stage: Parameters<typeof jobs.run>[0]) {
      const cluster = new SchedulerCluster(stage, { tickMs: 5_000, leaseMs: 5_000 })
      await cluster.on((system) => schedule(system, job("a day later", { atMs: Date.now() + DAY_MS })))
      await cluster.restartAllAfter(DAY_MS - 60_000)
      const received = () => cluster.on((system) => system.actor(Inbox, "ada").received())
      await stage.sleep(30_000)
      expect(await received()).toEqual(new Map())
      await stage.sleep(60_000)
      expect(await received()).toEqual(new Map([["a day later", "a call"]]))
    },
  }
  const { failure } = await runSeed(workload, 1, { faults: noFaults() })
  expect(failure).toBeUndefined()
})

test("every job is done unless it was cancelled, whatever happens to the machines", async () => {
  const { failures, problems } = await simulate(jobs, { seeds: 12 })
  expect({ failures, problems }).toEqual({ failures: [], problems: [] })
})

function job(id: string, { atMs }: { readonly atMs: number }): Job {
  return { id, atMs, type: Inbox.type, key: "ada", about: "a call" }
}

function schedule(system: ActorSystem, one: Job): Promise<void> {
  return system.actor(Scheduler, schedulerOf(one.id)).schedule(one)
}

function tick(system: ActorSystem, id: string): Promise<void> {
  return system.actor(Scheduler, schedulerOf(id)).tick()
}
