import type { Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Ports } from "../ports/ports.js"
import { noTelemetry } from "../runtime/no-telemetry.js"
import { nodeTurnContext } from "../runtime/node-turn-context.js"
import type { SimMicros, Step } from "./agenda.js"
import type { SimEvent } from "./assertions.js"
import { SeededRandom } from "./seeded-random.js"
import { SimClock } from "./sim-clock.js"
import { simDigest } from "./sim-digest.js"
import { SimLifeline } from "./sim-lifeline.js"
import { SimNetwork } from "./sim-network.js"
import type { World } from "./world.js"

/** What stays when a process on it dies: an address, and clocks of its own. */
export interface Machine {
  readonly name: string
  readonly host: string
  readonly bootMs: number
  clockRate: number
  wallOffsetMs: number
  /** For how long it was suspended, all in all. */
  suspendedMicros: SimMicros
}

/**
 * One life of one process: what it has under way ends with it.
 *
 * A pause may begin inside any call to a port. The code that made the call cannot be held up there, so its
 * time is moved instead: from then on the process is ahead of the world by the length of the pause. What it
 * reads from its clock is later, what it sends leaves later, and nothing else happens in it until the world
 * has caught up. Seen from everywhere else, it stood still between the call and what came after.
 */
export class SimProcess {
  readonly world: World
  readonly machine: Machine
  readonly name: string
  readonly ports: Ports
  readonly network: SimNetwork
  /** What it has told the invariants since a pause began, and when each will have happened. */
  readonly heldEvents: { readonly at: SimMicros; readonly event: SimEvent }[] = []
  #alive = true
  /** How far this process is ahead of the world, within its step. */
  #ahead: SimMicros = 0
  #busyUntil: SimMicros = 0
  #still: Stillness | undefined
  #yielded: (() => void)[] = []
  readonly #onDeath = new Set<() => void>()
  #beforeStart: (() => void)[] | undefined = []

  constructor(world: World, machine: Machine, life: number) {
    this.world = world
    this.machine = machine
    this.name = life === 1 ? machine.name : `${machine.name}.${life}`
    this.network = new SimNetwork(this)
    this.ports = {
      clock: new SimClock(this),
      random: new ProcessRandom(this, world.random.fork()),
      scheduler: {
        // A real microtask: it runs before the step is over.
        microtask: (task) => {
          settled.then(task)
        },
        afterMicrotasks: (task) => this.#yield(task),
        yield: (task) => this.#yield(task),
      },
      network: this.network,
      digest: simDigest,
      lifeline: new SimLifeline(this),
      logger: traced(this),
      telemetry: noTelemetry,
      turnContext: nodeTurnContext,
    }
  }

  get isAlive(): boolean {
    return this.#alive
  }

  /** The present as this process has it. */
  get now(): SimMicros {
    return this.world.now + this.#ahead
  }

  /** The present as a clock has it that does not count while its machine is suspended. */
  get awakeMicros(): SimMicros {
    const suspended = this.isSuspended ? this.world.now - (this.#still as Stillness).since : 0
    return this.now - this.machine.suspendedMicros - suspended
  }

  get isStill(): boolean {
    return this.#still !== undefined
  }

  get isSuspended(): boolean {
    return this.#still?.kind === "suspended"
  }

  get busyUntil(): SimMicros {
    return this.#busyUntil
  }

  /** Called at the start of everything that a process asks of the world. */
  enterCall(what: string): void {
    const strength = this.world.faults["pause-in-call"]
    if (strength === 0 || this.world.isCalm || this.world.current !== this) return
    if (!this.world.random.chance(strength * 0.002)) return
    const pause = Math.floor(this.world.random.between(1_000, 2_000_000 * strength))
    this.#ahead += pause
    this.world.fault("pause-in-call", `${this.name} in ${what} for ${pause / 1000} ms`)
  }

  /** Stands still from now on, as a whole. */
  pause(micros: SimMicros): void {
    this.#busyUntil = Math.max(this.#busyUntil, this.world.now + micros)
  }

  /**
   * Stands still until it is told to go on, or is killed. A suspended one does with its whole machine, whose
   * monotonic clock does not count meanwhile. It must not be in a pause: there it may have read times that
   * would come again.
   */
  standStill(kind: Stillness["kind"]): void {
    if (this.isStill || this.now > this.world.now || this.#busyUntil > this.world.now) {
      throw new Error(`${this.name} stands still already`)
    }
    this.#still = { kind, since: this.world.now, waiting: [] }
  }

  /** Keeps a step that comes up while it stands still. */
  keepWaiting(step: Step): void {
    this.#still?.waiting.push(step)
  }

  goOn(): void {
    const still = this.#still
    if (still === undefined) return
    this.#still = undefined
    if (still.kind === "suspended") this.machine.suspendedMicros += this.world.now - still.since
    for (const step of still.waiting) this.world.again(step)
  }

  beginStep(): void {
    this.#ahead = 0
  }

  endStep(): void {
    this.#busyUntil = Math.max(this.#busyUntil, this.world.now + this.#ahead)
    this.#ahead = 0
  }

  /** Runs `task` as a step of this process, `inMicros` of true time from its present. */
  later(inMicros: SimMicros, label: string, task: () => void): Timer {
    if (!this.#alive) return { cancel: () => {} }
    const step: Step = this.world.schedule(this.now + inMicros, this, label, task)
    return {
      cancel: () => {
        step.cancelled = true
      },
    }
  }

  /** Runs `task` as a step of this process, after its program has begun. */
  onceStarted(label: string, task: () => void): void {
    if (this.#beforeStart === undefined) this.later(0, label, task)
    else this.#beforeStart.push(() => this.later(0, label, task))
  }

  /** Its program begins in this step. */
  started(): void {
    const waiting = this.#beforeStart ?? []
    this.#beforeStart = undefined
    for (const task of waiting) task()
  }

  /** Ends it at once. What it had under way never happens. */
  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    this.#yielded = []
    this.goOn()
    this.network.processDied()
    for (const told of this.#onDeath) told()
  }

  /** Gives a function that takes it back. */
  onDeath(told: () => void): () => void {
    this.#onDeath.add(told)
    return () => this.#onDeath.delete(told)
  }

  #yield(task: () => void): void {
    if (!this.#alive) return
    this.#yielded.push(task)
    // Tasks run in the order given, whatever order their steps come up in.
    this.later(0, "yield", () => this.#yielded.shift()?.())
  }
}

interface Stillness {
  readonly kind: "suspended" | "paused"
  readonly since: SimMicros
  readonly waiting: Step[]
}

const settled = Promise.resolve()

class ProcessRandom extends SeededRandom {
  readonly #process: SimProcess

  constructor(proc: SimProcess, source: SeededRandom) {
    super(source.uint32())
    this.#process = proc
  }

  override bytes(length: number): Uint8Array {
    this.#process.enterCall("random.bytes")
    return super.bytes(length)
  }
}

/**
 * A log line is a line of the trace. Its fields stay out: they may hold stacks, which differ from machine to
 * machine.
 */
function traced(proc: SimProcess): Logger {
  const logger: Logger = {
    enabled: () => true,
    log: (level, message) => proc.world.note(proc, `log ${level}: ${message}`),
    with: () => logger,
  }
  return logger
}
