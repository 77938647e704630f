import { TroupeError } from "../errors/troupe-error.js"
import { captureCaller, linkToCall } from "./ambient/user-frame.js"
import type { SimEvent } from "./assertions.js"
import type { FaultPlan } from "./faults.js"
import { unleashOn } from "./nemesis.js"
import type { SeededRandom } from "./seeded-random.js"
import { SimStore } from "./sim-store.js"
import type { CommitOrder } from "./sim-store-commits.js"
import type { StoreService } from "./sim-store-server.js"
import type { Life, Program, World } from "./world.js"

/**
 * Reports that the process which was asked to run a task died before the end of the task, or was not running.
 * Whether the task was run is unknown.
 */
export class ProcessDiedError extends TroupeError {
  readonly code = "ProcessDied"

  constructor(machine: string) {
    super(`the process on ${machine} died, or was not running`)
  }
}

/** Options of a store of a world. */
export interface StageStoreOptions {
  /** The number of past commits that watches can still receive. Default 1,000. */
  readonly keptCommits?: number
  /** How long the store takes for requests. By default no time at all, however many there are. */
  readonly service?: StoreService | undefined
  /**
   * In which order commits are made: one after another, as by SQLite and etcd, or concurrently, as by
   * PostgreSQL. Default `ordered`.
   */
  readonly order?: CommitOrder | undefined
  /** The most entries of a page of a listing. Default 1,000. */
  readonly pageEntries?: number | undefined
}

/**
 * The interface of a workload to its world. A workload runs outside all machines: it starts them, runs tasks
 * on them, checks the results, and survives their crashes.
 */
export class Stage {
  /** The workload's own source of random numbers. */
  readonly random: SeededRandom
  readonly #world: World
  readonly #stores = new Map<string, SimStore>()

  constructor(world: World) {
    this.#world = world
    this.random = world.random.fork()
  }

  /** The faults that are enabled, with their intensity. */
  get faults(): FaultPlan {
    return this.#world.faults
  }

  /** True time, which no machine's clock shows. */
  get nowMs(): number {
    return this.#world.now / 1000
  }

  /** The names of the machines. */
  get machines(): readonly string[] {
    return this.#world.machines
  }

  /** Adds a machine and runs `program` on it, now and after each restart. */
  start(name: string, program: Program, options: { readonly killable?: boolean } = {}): void {
    this.#world.start(name, program, options)
  }

  /**
   * Returns the store of that name, outside all machines. A program opens it with `provider(life)`. The
   * options of the first call for a name apply.
   */
  store(name = "store", options: StageStoreOptions = {}): SimStore {
    const known = this.#stores.get(name)
    if (known !== undefined) return known
    const { keptCommits = 1_000, ...settings } = options
    const store = new SimStore(this.#world, name, { ...settings, kept: { commits: keptCommits } })
    this.#stores.set(name, store)
    unleashOn(store, this.#world)
    return store
  }

  /** Returns whether a process runs on the machine. */
  isUp(machine: string): boolean {
    return this.#world.processOn(machine) !== undefined
  }

  /** Kills the process on a machine; `boot` starts it again. */
  crash(machine: string): void {
    this.#world.crash(machine)
  }

  /** Starts the program of a machine whose process has died. */
  boot(machine: string): void {
    this.#world.boot(machine)
  }

  /** Pauses the process on a machine. */
  pause(machine: string, ms: number): void {
    this.#world.note(undefined, `${machine} is paused for ${ms} ms`)
    this.#world.processOn(machine)?.pause(Math.ceil(ms * 1000))
  }

  /** Blocks the event loop of the process on a machine. Other threads of the process go on. */
  stall(machine: string, ms: number): void {
    this.#world.note(undefined, `the event loop of ${machine} is blocked for ${ms} ms`)
    this.#world.processOn(machine)?.stall(Math.ceil(ms * 1000))
  }

  /**
   * Suspends a machine; only its wall clock continues. Has no effect if the machine is already paused or
   * suspended.
   */
  suspend(machine: string, ms: number): void {
    const world = this.#world
    const proc = world.processOn(machine)
    if (proc === undefined || proc.isPaused) return
    world.note(undefined, `${machine} is suspended for ${ms} ms`)
    proc.halt("suspended")
    world.schedule(world.now + Math.ceil(ms * 1000), undefined, `${proc.name} goes on`, () => proc.resume())
  }

  /** Sets the wall clock of a machine forward, or back. */
  shiftClock(machine: string, ms: number): void {
    this.#world.note(undefined, `the wall clock of ${machine} is shifted by ${ms} ms`)
    this.#world.machine(machine).wallOffsetMs += ms
  }

  /** Returns the address of a machine, for its peers to connect to. */
  hostOf(machine: string): string {
    return this.#world.machine(machine).host
  }

  /** Cuts the traffic from `a` to `b`, until the returned function or `heal` is called. */
  cut(a: string, b: string): () => void {
    return this.#world.cut(a, b)
  }

  /** Ends all cuts of the network. */
  heal(): void {
    this.#world.heal()
  }

  /** Ends all faults, so that the remaining work can settle. */
  calm(): void {
    this.#world.calm()
  }

  /**
   * Runs `task` in the process on a machine, and resolves with its result, as a step of the workload. Rejects
   * with a {@link ProcessDiedError} if the process is not running, or is killed before the task has ended.
   */
  on<T>(machine: string, task: (life: Life) => T | Promise<T>): Promise<T> {
    const world = this.#world
    const proc = world.processOn(machine)
    const label = `an answer from ${machine}`
    return this.#wait(label, (resolve, reject) => {
      const died = () => {
        world.schedule(world.now, world.driver, "answer", () => reject(new ProcessDiedError(machine)))
      }
      if (proc === undefined) {
        died()
        return
      }
      const unwatch = proc.onDeath(died)
      // An answer leaves when the process has reached this time; a process that is killed before has given
      // none.
      const settle = (end: () => void) =>
        world.schedule(proc.now, world.driver, "answer", () => {
          if (!proc.isAlive) return
          unwatch()
          end()
        })
      proc.onceStarted("task", () => {
        Promise.resolve(world.lifeOf(proc))
          .then(task)
          .then(
            (value) => settle(() => resolve(value)),
            (error) => settle(() => reject(error)),
          )
      })
    })
  }

  /** Resolves after this time of the world. */
  sleep(ms: number): Promise<void> {
    return this.#wait(`${ms} ms to go by`, (resolve) => {
      this.#world.driver.later(Math.ceil(ms * 1000), "sleep", () => resolve(undefined))
    })
  }

  /** Chooses a setting of the code under test by the seed. */
  knob<T>(name: string, choices: readonly T[]): T {
    const choice = this.random.pick(choices)
    this.#world.knobs.set(name, choice)
    this.#world.note(undefined, `knob ${name} = ${String(choice)}`)
    return choice
  }

  /** Counts completed operations, for the workload's floor. */
  operation(count = 1): void {
    this.#world.operations += count
  }

  /** Adds a line to the trace. */
  note(what: string): void {
    this.#world.note(this.#world.driver, what)
  }

  /** Records an event for the invariants. */
  record(event: SimEvent): void {
    this.#world.record(event)
  }

  /** Adds an invariant, which is checked for every recorded event after the step that recorded it. */
  invariant<E extends { readonly kind: string }>(
    name: string,
    check: (event: E) => string | undefined | false,
  ): void {
    this.#world.assertions.addInvariant(name, check)
  }

  /** Fails the seed with `name` unless the assertion holds. */
  always(name: string, holds: boolean, detail: () => string = () => ""): void {
    this.#world.assertions.assertAlways(name, holds, detail)
  }

  /** Counts that something holds. A run in which it never did has a problem. */
  sometimes(name: string, holds = true): void {
    this.#world.assertions.assertSometimes(name, holds)
  }

  #wait<T>(
    label: string,
    begin: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
  ): Promise<T> {
    const entry = { label, calledAt: captureCaller(this.#wait) }
    this.#world.waiting.add(entry)
    const done = () => this.#world.waiting.delete(entry)
    return new Promise<T>((resolve, reject) => {
      begin(
        (value) => {
          done()
          resolve(value)
        },
        (error) => {
          done()
          linkToCall(error, entry.calledAt)
          reject(error)
        },
      )
    })
  }
}
