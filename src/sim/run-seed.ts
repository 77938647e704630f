import { nodeScheduler } from "../runtime/node-scheduler.js"
import { captureUncaught } from "../runtime/uncaught.js"
import type { AmbientWorld } from "./ambient/ambient-world.js"
import { outsideWorlds } from "./ambient/current-world.js"
import { installAmbient } from "./ambient/install-ambient.js"
import { firstUserFrame, userFrameOf } from "./ambient/user-frame.js"
import { AssertionBroken } from "./assertions.js"
import { drawFaults, type FaultKind, type FaultPlan, faultsExcept } from "./faults.js"
import { unleash } from "./nemesis.js"
import { SeededRandom } from "./seeded-random.js"
import type { SimProcess } from "./sim-process.js"
import { Stage } from "./stage.js"
import type { Limits, Workload } from "./workload.js"
import { World } from "./world.js"

/** Options of {@link runSeed}. */
export interface SeedOptions {
  /** Replaces the plan that the seed would draw. */
  readonly faults?: FaultPlan
  /** The number of lines of the trace that are kept for `tail`. Default 50. */
  readonly keepTrace?: number
  /** Called with each line of the trace. */
  readonly onTrace?: (line: string) => void
}

/** The result of one seed. */
export interface SeedReport {
  /** The seed. */
  readonly seed: number
  /** The failure, or undefined if the seed passed. */
  readonly failure: SeedFailure | undefined
  /** Two runs with the same hash behaved identically. */
  readonly hash: string
  /** The number of steps that the world took. */
  readonly steps: number
  /** The time that passed in the world. */
  readonly virtualMs: number
  /** The number of operations that the workload counted. */
  readonly operations: number
  /** How often each kind of fault occurred. */
  readonly faults: ReadonlyMap<FaultKind, number>
  /** How often each `sometimes` held. */
  readonly sometimes: ReadonlyMap<string, number>
  /** How often each `always` was evaluated. */
  readonly always: ReadonlyMap<string, number>
  /** How often each invariant was evaluated. */
  readonly invariants: ReadonlyMap<string, number>
  /** The settings that the seed chose, by name. */
  readonly knobs: ReadonlyMap<string, unknown>
  /** The last lines of the trace. */
  readonly tail: readonly string[]
}

/** Why a seed failed. */
export interface SeedFailure {
  /**
   * The assertion that failed, or `deadlock`, `endless loop`, `out of time`, `uncaught`, `forbidden`,
   * `workload`.
   */
  readonly what: string
  /** Details for people. */
  readonly detail: string
  /**
   * The file and line in the code of the user at which it failed: the first frame outside Troupe, or the call
   * to Troupe that failed. Missing if there is none.
   */
  readonly at?: string
}

/**
 * Runs a workload once, in a world made from one seed.
 *
 * The microtasks of a step must run before the next step begins, and no other code of this process may run in
 * between, because the world of the step answers the globals that they call (`Date.now`, `setTimeout`). Node
 * drains microtasks between two immediates of one iteration of its loop and runs nothing else there, so steps
 * are run as immediates, many of which are requested at a time.
 */
export async function runSeed(
  workload: Workload,
  seed: number,
  options: SeedOptions = {},
): Promise<SeedReport> {
  const before = turn
  let release: () => void = () => {}
  turn = new Promise((resolve) => {
    release = resolve
  })
  await before
  try {
    return await new SeedRun(workload, seed, options).run()
  } finally {
    release()
  }
}

/** One world runs at a time, because worlds share the globals of this process. */
let turn: Promise<void> = Promise.resolve()

const STEPS_A_ROUND = 64

class SeedRun {
  readonly #workload: Workload
  readonly #seed: number
  readonly #world: World
  readonly #limits: Limits
  #failure: SeedFailure | undefined
  #over = false
  #inStep = false
  #instant = -1
  #stepsAtInstant = 0
  #ambient: AmbientWorld | undefined
  readonly #ambients = new WeakMap<SimProcess, AmbientWorld>()
  #finish: () => void = () => {}

  constructor(workload: Workload, seed: number, options: SeedOptions) {
    this.#workload = workload
    this.#seed = seed
    this.#limits = { virtualMs: 3_600_000, steps: 5_000_000, stepsAtOneInstant: 100_000, ...workload.limits }
    const faults =
      options.faults ?? drawFaults(new SeededRandom(seed ^ 0x5eed), workload.faults ?? faultsExcept())
    this.#world = new World({ seed, faults, keepTrace: options.keepTrace ?? 50, onTrace: options.onTrace })
  }

  async run(): Promise<SeedReport> {
    const uninstall = installAmbient(() => this.#ambient)
    const uncapture = captureUncaught((error) => this.#failBy(error))
    try {
      this.#begin()
      await new Promise<void>((resolve) => {
        this.#finish = resolve
        this.#round()
      })
    } finally {
      uncapture()
      uninstall()
    }
    return this.#report()
  }

  #begin(): void {
    const world = this.#world
    unleash(world)
    const stage = new Stage(world)
    world.driver.later(0, "begin", () => {
      Promise.resolve(stage)
        .then((given) => this.#workload.run(given))
        .then(
          () => {
            this.#over = true
          },
          (error) => {
            if (error instanceof AssertionBroken) this.#failByAssertion(error)
            else this.#fail("workload", described(error), userFrameOf(error))
          },
        )
    })
  }

  #round(): void {
    for (let step = 1; step < STEPS_A_ROUND; step += 1) nodeScheduler.yield(this.#next)
    nodeScheduler.yield(() => {
      this.#endStep()
      if (this.#over) this.#finish()
      else this.#round()
    })
  }

  readonly #next = (): void => {
    this.#endStep()
    if (this.#over) return
    const world = this.#world
    this.#inStep = true
    try {
      if (!world.beginStep(this.#enter)) this.#deadlock()
    } catch (error) {
      this.#failBy(error)
    }
  }

  readonly #enter = (proc: SimProcess | undefined): void => {
    if (proc === undefined) return
    const known = this.#ambients.get(proc)
    this.#ambient = known ?? this.#ambientOf(proc)
    if (known === undefined) this.#ambients.set(proc, this.#ambient)
  }

  /** A forbidden call fails the run, even if the code that makes it ignores the error. */
  #ambientOf(proc: SimProcess): AmbientWorld {
    const { clock, random, scheduler } = proc.ports
    return {
      wallMs: () => clock.wallMs(),
      monotonicMs: () => clock.monotonicMs(),
      setTimer: (delayMs, fire) => clock.setTimer(delayMs, fire),
      microtask: (task) => scheduler.microtask(task),
      yield: (task) => scheduler.yield(task),
      randomUint32: () => random.uint32(),
      randomBytes: (length) => random.bytes(length),
      forbidden: (what, caller) => {
        const error = new Error(`${what} is not available in a simulated world; it was called at ${caller}`)
        this.#fail("forbidden", error.message, this.#placeOf(error))
        return error
      },
    }
  }

  #endStep(): void {
    if (!this.#inStep) return
    this.#inStep = false
    this.#ambient = undefined
    const world = this.#world
    const { current } = world
    try {
      world.endStep()
    } catch (error) {
      if (error instanceof AssertionBroken) this.#failByAssertion(error)
      else this.#fail("invariant", described(error), userFrameOf(error))
    }
    const { broken } = world.assertions
    if (broken !== undefined) this.#failByAssertion(broken)
    this.#checkLimits(current)
  }

  #checkLimits(proc: SimProcess | undefined): void {
    const world = this.#world
    this.#stepsAtInstant = world.now === this.#instant ? this.#stepsAtInstant + 1 : 0
    this.#instant = world.now
    const { steps, virtualMs, stepsAtOneInstant } = this.#limits
    if (this.#stepsAtInstant > stepsAtOneInstant) {
      const detail = `${stepsAtOneInstant} steps at one instant, ${world.now / 1000} ms`
      this.#fail("endless loop", detail, this.#startOf(proc))
    }
    if (world.steps > steps) {
      this.#failWaiting("out of time", `the workload did not end within ${steps} steps`)
    }
    if (world.now / 1000 > virtualMs) {
      this.#failWaiting(
        "out of time",
        `the workload did not end within ${virtualMs} virtual ms; ${this.#waitsFor()}`,
      )
    }
  }

  #deadlock(): void {
    this.#failWaiting("deadlock", `no step is left to run; ${this.#waitsFor()}`)
  }

  #waitsFor(): string {
    const world = this.#world
    const up = world.machines.filter((name) => world.processOn(name) !== undefined)
    const waits = [...world.waiting].map(({ label }) => label).join(", ")
    return `the workload waits for ${waits === "" ? "a promise of its own" : waits}; up: ${up.join(", ") || "none"}`
  }

  /** Fails the run for an error that was not caught, and names the process of the current step. */
  #failBy(error: unknown): void {
    const { assertions, current } = this.#world
    const broken = error instanceof AssertionBroken ? error : assertions.broken
    if (broken !== undefined) this.#failByAssertion(broken)
    else
      this.#fail("uncaught", `in ${current?.name ?? "the world"}: ${described(error)}`, this.#placeOf(error))
  }

  #failByAssertion(broken: AssertionBroken): void {
    this.#fail(broken.assertion, broken.message, userFrameOf(broken))
  }

  /** Fails the run while the workload waits, at the call that it waits for. */
  #failWaiting(what: string, detail: string): void {
    this.#fail(what, detail, firstUserFrame([...this.#world.waiting].map(({ calledAt }) => calledAt)))
  }

  /** Returns the user's frame of an error, or else the call that started the program of the current step. */
  #placeOf(error: unknown): string | undefined {
    return userFrameOf(error) ?? this.#startOf(this.#world.current)
  }

  #startOf(proc: SimProcess | undefined): string | undefined {
    const start = proc && this.#world.startOf(proc)
    return start && firstUserFrame([start])
  }

  #fail(what: string, detail: string, at: string | undefined): void {
    this.#over = true
    if (this.#failure !== undefined) return
    const explained = [detail, ...this.#lostHistory()].join("\n")
    this.#failure = { what, detail: explained, ...(at === undefined ? {} : { at }) }
  }

  /** Names the last restored store, because what was acknowledged and then lost explains many failures. */
  #lostHistory(): string[] {
    const { lostHistory } = this.#world
    const last = lostHistory.at(-1)
    if (last === undefined) return []
    const earlier = lostHistory.length - 1
    const more =
      earlier === 0 ? "" : `, after ${earlier} earlier ${earlier === 1 ? "restoration" : "restorations"}`
    return [`note: ${last}${more}; acknowledged writes were lost with it`]
  }

  #report(): SeedReport {
    const world = this.#world
    return {
      seed: this.#seed,
      failure: this.#failure,
      hash: world.trace.hash,
      steps: world.steps,
      virtualMs: world.now / 1000,
      operations: world.operations,
      faults: world.faultCounts,
      sometimes: world.assertions.sometimes,
      always: world.assertions.always,
      invariants: world.assertions.invariants,
      knobs: world.knobs,
      tail: world.trace.tail,
    }
  }
}

function described(error: unknown): string {
  if (error instanceof AssertionBroken) return error.message
  return error instanceof Error ? outsideWorlds(() => error.stack ?? error.message) : String(error)
}
