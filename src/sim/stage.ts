import { TroupeError } from "../errors/troupe-error.js"
import type { SimEvent } from "./assertions.js"
import type { FaultPlan } from "./faults.js"
import { unleashOn } from "./nemesis.js"
import type { SeededRandom } from "./seeded-random.js"
import { SimStore } from "./sim-store.js"
import type { StoreService } from "./sim-store-server.js"
import type { Life, Program, World } from "./world.js"

/**
 * The process that was asked to do something died before it had, or was not running. Whether it did is
 * unknown.
 */
export class ProcessDiedError extends TroupeError {
  readonly code = "ProcessDied"

  constructor(machine: string) {
    super(`the process on ${machine} died, or was not running`)
  }
}

export interface StageStoreOptions {
  /** How many commits it can tell a watch of. Default 1,000. */
  readonly keptCommits?: number
  /** How long it takes over requests. Unless set, no time at all, however many there are. */
  readonly service?: StoreService | undefined
}

/**
 * What a workload does to its world. A workload stands outside of all machines: it starts them, asks things
 * of them, and judges the answers, and it survives them.
 */
export class Stage {
  readonly random: SeededRandom
  readonly #world: World
  readonly #stores = new Map<string, SimStore>()

  constructor(world: World) {
    this.#world = world
    this.random = world.random.fork()
  }

  /** Which faults are on, and how strong. */
  get faults(): FaultPlan {
    return this.#world.faults
  }

  /** True time, which no machine's clock tells. */
  get nowMs(): number {
    return this.#world.now / 1000
  }

  get machines(): readonly string[] {
    return this.#world.machines
  }

  /** Adds a machine and runs `program` on it, now and whenever it comes back. */
  start(name: string, program: Program, options: { readonly killable?: boolean } = {}): void {
    this.#world.start(name, program, options)
  }

  /**
   * A store outside of all machines, the same one for the same name. A program opens it with
   * `provider(life)`. Its options are up to whoever asks for it first.
   */
  store(name = "store", options: StageStoreOptions = {}): SimStore {
    const known = this.#stores.get(name)
    if (known !== undefined) return known
    const store = new SimStore(this.#world, name, { commits: options.keptCommits ?? 1_000 }, options.service)
    this.#stores.set(name, store)
    unleashOn(store, this.#world)
    return store
  }

  isUp(machine: string): boolean {
    return this.#world.processOn(machine) !== undefined
  }

  crash(machine: string): void {
    this.#world.crash(machine)
  }

  boot(machine: string): void {
    this.#world.boot(machine)
  }

  /** The process on a machine stands still for so long, as a whole. */
  pause(machine: string, ms: number): void {
    this.#world.note(undefined, `${machine} is paused for ${ms} ms`)
    this.#world.processOn(machine)?.pause(Math.ceil(ms * 1000))
  }

  /**
   * A machine stands still for so long, and only its wall clock goes on. Not one that stands still already.
   */
  suspend(machine: string, ms: number): void {
    const world = this.#world
    const proc = world.processOn(machine)
    if (proc === undefined || proc.isStill || proc.busyUntil > world.now) return
    world.note(undefined, `${machine} is suspended for ${ms} ms`)
    proc.standStill("suspended")
    world.schedule(world.now + Math.ceil(ms * 1000), undefined, `${proc.name} goes on`, () => proc.goOn())
  }

  /** The address of a machine, for its peers to connect to. */
  hostOf(machine: string): string {
    return this.#world.machine(machine).host
  }

  /** From now on nothing gets from `a` to `b`, until the function that this gives is called, or `heal`. */
  cut(a: string, b: string): () => void {
    return this.#world.cut(a, b)
  }

  heal(): void {
    this.#world.heal()
  }

  /** Ends all faults, so that what is left can settle. */
  calm(): void {
    this.#world.calm()
  }

  /**
   * Runs `task` in the process on a machine, and gives what it gives, as a step of the workload. Rejects with
   * a {@link ProcessDiedError} when the process is not there, or is killed before the task has ended.
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
      // An answer leaves when the process has got so far; one that is killed before that has given none.
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

  sleep(ms: number): Promise<void> {
    return this.#wait(`${ms} ms to go by`, (resolve) => {
      this.#world.driver.later(Math.ceil(ms * 1000), "sleep", () => resolve(undefined))
    })
  }

  /** A setting of the code under test, chosen by the seed. */
  knob<T>(name: string, choices: readonly T[]): T {
    const choice = this.random.pick(choices)
    this.#world.knobs.set(name, choice)
    this.#world.note(undefined, `knob ${name} = ${String(choice)}`)
    return choice
  }

  /** Counts something that was done, for the workload's floor. */
  operation(count = 1): void {
    this.#world.operations += count
  }

  note(what: string): void {
    this.#world.note(this.#world.driver, what)
  }

  record(event: SimEvent): void {
    this.#world.record(event)
  }

  /** Checked for every event that is recorded, after the step in which it was. */
  invariant<E extends { readonly kind: string }>(
    name: string,
    check: (event: E) => string | undefined | false,
  ): void {
    this.#world.assertions.addInvariant(name, check)
  }

  always(name: string, holds: boolean, detail: () => string = () => ""): void {
    this.#world.assertions.assertAlways(name, holds, detail)
  }

  sometimes(name: string, holds = true): void {
    this.#world.assertions.assertSometimes(name, holds)
  }

  #wait<T>(
    label: string,
    begin: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
  ): Promise<T> {
    const entry = { label }
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
          reject(error)
        },
      )
    })
  }
}
