import { setTimeout } from "node:timers/promises"
import { type ActorSystem, CallError, StoreUnavailableError, withOptions } from "troupe"
import {
  type Life,
  ProcessDiedError,
  type SimStore,
  type Stage,
  startSystem,
  type Workload,
} from "troupe/sim"
import { Inbox } from "./inbox.js"

const machines = ["alpha", "beta", "gamma"]
const users = ["ada", "ben", "cyd"]

interface Planned {
  readonly id: string
  readonly user: string
  readonly atMs: number
}

/** Reminders on three machines. All of them are received, except those that were cancelled, which are not. */
export const reminders: Workload = {
  name: "reminders",
  about: "reminders that are set and cancelled on three machines that crash, pause and lose each other",
  floors: { operations: 12, faults: 1 },
  async run(stage) {
    const cluster = new Cluster(stage)
    const nowMs = await stage.on("alpha", () => Date.now())
    const drawn = Array.from({ length: 12 }, (_, index) => ({
      id: `reminder-${index}`,
      user: stage.random.pick(users),
      atMs: nowMs + stage.random.between(0, 20_000),
    }))
    const cancelled = await Promise.all(drawn.map((one) => setAndCancel(stage, cluster, one)))
    stage.calm()
    await stage.sleep(30_000) // attempts that were held back arrive
    for (const [index, one] of drawn.entries()) {
      if (cancelled[index])
        stage.always("a cancelled one is never received", !(await isReceived(cluster, one)), () => one.id)
      else await receivedWithin(stage, cluster, one, 180_000)
    }
  },
}

/** A reminder may be late: the clock that it was due by was set back, or it was tried again after a pause. */
async function receivedWithin(stage: Stage, cluster: Cluster, one: Planned, ms: number): Promise<void> {
  const untilMs = stage.nowMs + ms
  while (stage.nowMs < untilMs && !(await isReceived(cluster, one))) await stage.sleep(5_000)
  stage.always("a reminder is received", await isReceived(cluster, one), () => one.id)
}

async function isReceived(cluster: Cluster, { id, user }: Planned): Promise<boolean> {
  return (await cluster.on((system) => system.actor(Inbox, user).received())).has(id)
}

/** Returns whether the reminder was cancelled, which is tried for half of them. */
async function setAndCancel(stage: Stage, cluster: Cluster, { id, user, atMs }: Planned): Promise<boolean> {
  await stage.sleep(stage.random.between(0, 10_000))
  await cluster.on((system) => {
    return withOptions(system.actor(Inbox, user), { operation: `set ${id}` }).remind(id, atMs, "a call")
  })
  stage.operation()
  if (stage.random.chance(0.5)) return false
  await stage.sleep(stage.random.between(0, 10_000))
  const isCancelled = await cluster.on((system) => system.actor(Inbox, user).cancel(id))
  stage.sometimes("a reminder is cancelled", isCancelled)
  stage.sometimes("a reminder is cancelled too late", !isCancelled)
  return isCancelled
}

/** The last one: the reminders of the actor could not be read, so none was set. */
const retried = [CallError, ProcessDiedError, StoreUnavailableError]

/** Three machines with one store. */
export class Cluster {
  readonly #stage: Stage
  /** By machine. A machine that restarts has none until its system has started. */
  readonly #systems = new Map<string, ActorSystem>()

  constructor(stage: Stage) {
    this.#stage = stage
    const store = stage.store()
    for (const machine of machines) {
      stage.start(machine, async (life) => {
        this.#systems.delete(machine)
        this.#systems.set(machine, await startNode(life, store))
      })
    }
  }

  /** Runs a call that may be repeated on one machine after another, until it is answered. */
  async on<T>(call: (system: ActorSystem) => Promise<T>): Promise<T> {
    for (;;) {
      const machine = this.#stage.random.pick(machines)
      try {
        const task = async () => {
          const system = this.#systems.get(machine)
          return system && { answer: await call(system) }
        }
        const answered = await this.#stage.on(machine, task)
        if (answered !== undefined) return answered.answer
      } catch (error) {
        if (!retried.some((type) => error instanceof type)) throw error
      }
      await this.#stage.sleep(500)
    }
  }

  /** Crashes all machines, and restarts them after a while. */
  async restartAllAfter(downMs: number): Promise<void> {
    for (const machine of machines) this.#stage.crash(machine)
    await this.#stage.sleep(downMs)
    for (const machine of machines) this.#stage.boot(machine)
  }
}

async function startNode(life: Life, store: SimStore): Promise<ActorSystem> {
  for (;;) {
    try {
      return await startSystem(life, {
        namespace: "site",
        listen: { host: life.host, port: 25_520, secret: "known-to-all-nodes" },
        store: store.provider(life),
        actors: [Inbox],
        requestTimeoutMs: 10_000,
      })
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      await setTimeout(500)
    }
  }
}
