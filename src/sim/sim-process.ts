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
import { simThreads } from "./sim-threads.js"
import type { World } from "./world.js"

/** What survives the death of a process on it: an address, and clocks. */
export interface Machine {
  readonly name: string
  readonly host: string
  readonly bootMs: number
  clockRate: number
  wallOffsetMs: number
  /** The total time for which it was suspended. */
  suspendedMicros: SimMicros
}

/**
 * One run of one process: its pending steps end with it.
 *
 * A pause may begin inside any call to a port. JavaScript code cannot be suspended there, so the time of the
 * process is moved instead: from then on the process is ahead of the world by the length of the pause. Its
 * clock shows a later time, its messages leave later, and none of its other steps run until the world has
 * caught up. To all other processes, it stood still between the call and its next action.
 *
 * A thread of a process is one of these too, with an event loop of its own: it may stand still or end alone.
 * It has the machine and the clocks of its process, stands still with it, and dies with it.
 */
export class SimProcess {
  readonly world: World
  readonly machine: Machine
  readonly name: string
  readonly ports: Ports
  readonly network: SimNetwork
  /** Events that were recorded during a pause, and the times at which they will have happened. */
  readonly heldEvents: { readonly at: SimMicros; readonly event: SimEvent }[] = []
  #alive = true
  #diedAt: SimMicros | undefined
  /** How far this process is ahead of the world, within its step. */
  #ahead: SimMicros = 0
  #busyUntil: SimMicros = 0
  #halt: Halt | undefined
  #yielded: (() => void)[] = []
  readonly #onDeath = new Set<() => void>()
  readonly #process: SimProcess | undefined
  readonly #threads = new Set<SimProcess>()
  #threadsStarted = 0
  #beforeStart: (() => void)[] | undefined = []

  /** `life` is a number for each run of a program, or the process that this is a thread of. */
  constructor(world: World, machine: Machine, life: number | SimProcess) {
    this.world = world
    this.machine = machine
    this.#process = typeof life === "number" ? undefined : life
    this.name = nameOf(machine, life)
    this.network = new SimNetwork(this)
    this.ports = {
      clock: new SimClock(this),
      random: new ProcessRandom(this, world.random.fork()),
      scheduler: {
        // A real microtask, which runs before the step is over.
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
      threads: typeof life === "number" ? simThreads(this) : undefined,
    }
  }

  /** The name of the process, also for its threads. */
  get processName(): string {
    return this.#process?.name ?? this.name
  }

  /** The threads that run. */
  get threads(): readonly SimProcess[] {
    return [...this.#threads]
  }

  /** Makes a thread of this process; its steps are its program. */
  thread(): SimProcess {
    this.#threadsStarted += 1
    const thread = new SimProcess(this.world, this.machine, this)
    this.#threads.add(thread)
    thread.onDeath(() => this.#threads.delete(thread))
    return thread
  }

  /** How many threads this process has started. */
  get threadsStarted(): number {
    return this.#threadsStarted
  }

  get isAlive(): boolean {
    return this.#alive
  }

  get diedAt(): SimMicros | undefined {
    return this.#diedAt
  }

  /** The present time of this process. */
  get now(): SimMicros {
    return this.world.now + this.#ahead
  }

  /** The present time of a clock that stops while the machine is suspended. */
  get awakeMicros(): SimMicros {
    const suspended = this.isSuspended ? this.world.now - (this.#halt as Halt).since : 0
    return this.now - this.machine.suspendedMicros - suspended
  }

  get isHalted(): boolean {
    return this.#halt !== undefined
  }

  get isSuspended(): boolean {
    return this.#halt?.kind === "suspended"
  }

  get busyUntil(): SimMicros {
    return this.#busyUntil
  }

  /** Called at the start of every call that a process makes to the world. */
  enterCall(what: string): void {
    const strength = this.world.faults["pause-in-call"]
    if (strength === 0 || this.world.isCalm || this.world.current !== this) return
    if (!this.world.random.chance(strength * 0.002)) return
    const pause = Math.floor(this.world.random.between(1_000, 2_000_000 * strength))
    this.#ahead += pause
    this.world.fault("pause-in-call", `${this.name} in ${what} for ${pause / 1000} ms`)
  }

  /** Pauses the whole process from now on. */
  pause(micros: SimMicros): void {
    this.stall(micros)
    for (const thread of this.#threads) thread.stall(micros)
  }

  /** Blocks this event loop from now on, while other threads of the process go on. */
  stall(micros: SimMicros): void {
    this.#busyUntil = Math.max(this.#busyUntil, this.world.now + micros)
  }

  /** Whether it stands still, or a thread of it does. */
  get isPaused(): boolean {
    if (this.isHalted || this.now > this.world.now || this.#busyUntil > this.world.now) return true
    return this.threads.some((thread) => thread.isPaused)
  }

  /**
   * Halts the process until `resume` is called or it is killed. A suspended process halts with its whole
   * machine, whose monotonic clock stops meanwhile. The process must not be in a pause, in which it may have
   * read later times.
   */
  halt(kind: Halt["kind"]): void {
    if (this.isPaused) throw new Error(`${this.name} is already paused or suspended`)
    this.#halt = { kind, since: this.world.now, waiting: [] }
    for (const thread of this.#threads) thread.halt(kind)
  }

  /** Keeps a step that is due while the process is halted. */
  keepWaiting(step: Step): void {
    this.#halt?.waiting.push(step)
  }

  resume(): void {
    const halt = this.#halt
    if (halt === undefined) return
    this.#halt = undefined
    const isProcess = this.#process === undefined
    if (halt.kind === "suspended" && isProcess) this.machine.suspendedMicros += this.world.now - halt.since
    for (const step of halt.waiting) this.world.again(step)
    for (const thread of this.#threads) thread.resume()
  }

  beginStep(): void {
    this.#ahead = 0
  }

  endStep(): void {
    this.#busyUntil = Math.max(this.#busyUntil, this.world.now + this.#ahead)
    this.#ahead = 0
  }

  /** Runs `task` as a step of this process, `inMicros` of true time after its present. */
  later(inMicros: SimMicros, label: string, task: () => void): Timer {
    if (!this.#alive) return { cancel: () => {} }
    const step: Step = this.world.schedule(this.now + inMicros, this, label, task)
    return {
      cancel: () => {
        step.cancelled = true
      },
    }
  }

  /** Runs `task` as a step of this process, after its program has started. */
  onceStarted(label: string, task: () => void): void {
    if (this.#beforeStart === undefined) this.later(0, label, task)
    else this.#beforeStart.push(() => this.later(0, label, task))
  }

  /** Called in the step in which the program starts. */
  started(): void {
    const waiting = this.#beforeStart ?? []
    this.#beforeStart = undefined
    for (const task of waiting) task()
  }

  /** Ends the process at once. Its pending steps never run. */
  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    this.#diedAt = this.world.now
    this.#yielded = []
    for (const thread of this.threads) thread.kill()
    this.resume()
    this.network.processDied()
    for (const told of this.#onDeath) told()
  }

  /** Returns a function that removes the listener. */
  onDeath(told: () => void): () => void {
    this.#onDeath.add(told)
    return () => this.#onDeath.delete(told)
  }

  #yield(task: () => void): void {
    if (!this.#alive) return
    this.#yielded.push(task)
    // Tasks run in the order given, whatever the order of their steps.
    this.later(0, "yield", () => this.#yielded.shift()?.())
  }
}

interface Halt {
  readonly kind: "suspended" | "paused"
  readonly since: SimMicros
  readonly waiting: Step[]
}

function nameOf({ name }: Machine, life: number | SimProcess): string {
  if (typeof life !== "number") return `${life.name}+${life.threadsStarted}`
  return life === 1 ? name : `${name}.${life}`
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
 * Writes log lines to the trace, without their fields, which may contain stacks that differ between machines.
 */
function traced(proc: SimProcess): Logger {
  const logger: Logger = {
    enabled: () => true,
    log: (level, message) => proc.world.note(proc, `log ${level}: ${message}`),
    with: () => logger,
  }
  return logger
}
