import { setTimeout } from "node:timers/promises"
import { type ActorSystem, CallError, StoreUnavailableError } from "troupe"
import {
  type Life,
  ProcessDiedError,
  type SimStore,
  type Stage,
  startSystem,
  type Workload,
} from "troupe/sim"
import { Inbox } from "./inbox.js"
import { type Job, Scheduler, schedulerOf } from "./scheduler.js"
import { tickAll } from "./ticking.js"

const machines = ["alpha", "beta", "gamma"]
const users = ["ada", "ben", "cyd"]

/** Jobs on three machines. All of them are done, except those that were cancelled, which are not. */
export const jobs: Workload = {
  name: "jobs",
  about: "jobs that are scheduled and cancelled on three machines that crash, pause and lose each other",
  floors: { operations: 12, faults: 1 },
  async run(stage) {
    const cluster = new SchedulerCluster(stage, { tickMs: 5_000, leaseMs: 5_000 })
    const nowMs = await stage.on("alpha", () => Date.now())
    const drawn = Array.from({ length: 12 }, (_, index) => ({
      id: `job-${index}`,
      atMs: nowMs + stage.random.between(0, 20_000),
      type: Inbox.type,
      key: stage.random.pick(users),
      about: `about ${index}`,
    }))
    const cancelled = await Promise.all(drawn.map((job) => scheduleAndCancel(stage, cluster, job)))
    stage.calm()
    await stage.sleep(30_000) // attempts that were held back arrive
    for (const [index, job] of drawn.entries()) {
      if (cancelled[index])
        stage.always("a cancelled job is never done", !(await isDone(cluster, job)), () => job.id)
      else await doneWithin(stage, cluster, job, 180_000)
    }
  },
}

/** A job may be late: the clock that it was due by was set back, or its attempts were postponed. */
async function doneWithin(stage: Stage, cluster: SchedulerCluster, job: Job, ms: number): Promise<void> {
  const untilMs = stage.nowMs + ms
  while (stage.nowMs < untilMs && !(await isDone(cluster, job))) await stage.sleep(5_000)
  stage.always("a job is done", await isDone(cluster, job), () => job.id)
}

async function isDone(cluster: SchedulerCluster, { id, key, about }: Job): Promise<boolean> {
  const received = await cluster.on((system) => system.actor(Inbox, key).received())
  return received.get(id) === about
}

/** Returns whether the job was cancelled, which is tried for half of the jobs. */
async function scheduleAndCancel(stage: Stage, cluster: SchedulerCluster, job: Job): Promise<boolean> {
  await stage.sleep(stage.random.between(0, 10_000))
  const key = schedulerOf(job.id)
  await cluster.on((system) => system.actor(Scheduler, key).schedule(job))
  stage.operation()
  if (stage.random.chance(0.5)) return false
  await stage.sleep(stage.random.between(0, 10_000))
  const isCancelled = await cluster.on((system) => system.actor(Scheduler, key).cancel(job.id))
  stage.sometimes("a job is cancelled", isCancelled)
  stage.sometimes("a job is cancelled too late", !isCancelled)
  return isCancelled
}

/** Three machines with one store, each of which ticks the schedulers. */
export class SchedulerCluster {
  readonly #stage: Stage
  /** By machine. A machine that restarts has none until its system has started. */
  readonly #systems = new Map<string, ActorSystem>()

  constructor(stage: Stage, options: { readonly tickMs: number; readonly leaseMs: number }) {
    this.#stage = stage
    const store = stage.store()
    for (const machine of machines) {
      stage.start(machine, async (life) => {
        this.#systems.delete(machine)
        const system = await startNode(life, store, options.leaseMs)
        this.#systems.set(machine, system)
        await tickAll(system, options.tickMs, new AbortController().signal)
      })
    }
  }

  /** Runs an idempotent call on one machine after another, until it is answered. */
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
        if (!(error instanceof CallError || error instanceof ProcessDiedError)) throw error
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

async function startNode(life: Life, store: SimStore, leaseMs: number): Promise<ActorSystem> {
  for (;;) {
    try {
      return await startSystem(life, {
        namespace: "jobs",
        listen: { host: life.host, port: 25_520, secret: "known-to-all-nodes" },
        store: store.provider(life),
        actors: [Scheduler, Inbox],
        lease: { ttlMs: leaseMs },
        requestTimeoutMs: 10_000,
      })
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      await setTimeout(500)
    }
  }
}
