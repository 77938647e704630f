import type { Endpoint } from "../ports/network.js"
import { Agenda, type SimMicros, type Step } from "./agenda.js"
import { type CapturedStack, captureCaller } from "./ambient/user-frame.js"
import { Assertions, type SimEvent } from "./assertions.js"
import type { FaultKind, FaultPlan } from "./faults.js"
import { SeededRandom } from "./seeded-random.js"
import type { SimConnection } from "./sim-connection.js"
import type { SimLine } from "./sim-lifeline.js"
import { type Machine, SimProcess } from "./sim-process.js"
import type { SimStore } from "./sim-store.js"
import { Trace } from "./trace.js"

/**
 * The program of a machine. It is started when the machine is, and again each time that the machine restarts.
 */
export type Program = (life: Life) => void | Promise<void>

/** One run of a program. */
export interface Life {
  /** The name of this run: that of the machine, and a number that grows with each restart. */
  readonly name: string
  /** The address of the machine. */
  readonly host: string
  /** The clock, randomness, network and other ports of this process. */
  readonly ports: SimProcess["ports"]
  /** Records an event for the invariants. */
  record(event: SimEvent): void
  /** Fails the seed with `name` unless the assertion holds. */
  always(name: string, holds: boolean, detail?: () => string): void
  /** Counts that something holds. A run in which it never did has a problem. */
  sometimes(name: string, holds?: boolean): void
  /** True time, as far as this process has got: in a pause it is ahead of the rest of the world. */
  trueMs(): number
}

interface WorldOptions {
  readonly seed: number
  readonly faults: FaultPlan
  /** The number of lines of the trace that are kept. Default 50. */
  readonly keepTrace?: number
  readonly onTrace?: ((line: string) => void) | undefined
}

/**
 * Machines, processes and the network between them, in one process, on one thread, from one seed.
 *
 * Everything that happens is a step: it belongs to one process, and includes its microtasks. The world takes
 * steps from its agenda one by one, in an order drawn from the seed, and checks the invariants after each. No
 * code here reads a real clock or uses real randomness, so the same seed gives the same trace, byte for byte.
 */
export class World {
  readonly random: SeededRandom
  readonly faults: FaultPlan
  readonly assertions = new Assertions()
  readonly trace: Trace
  readonly faultCounts = new Map<FaultKind, number>()
  readonly knobs = new Map<string, unknown>()
  /** The process of the workload, which is never killed. */
  readonly driver: SimProcess
  readonly #agenda: Agenda
  readonly #sites = new Map<string, Site>()
  /** The cuts of each direction. A direction is open again when all of its cuts have been removed. */
  readonly #cuts = new Map<string, Set<object>>()
  readonly #stores: SimStore[] = []
  readonly #processes = new WeakMap<Life, SimProcess>()
  /** What the workload waits for; reported if it waits forever. */
  readonly waiting = new Set<{ readonly label: string; readonly calledAt: CapturedStack }>()
  /** The cuts of the history of stores that lost commits, as sentences. */
  readonly lostHistory: string[] = []
  /** All lifelines that were ever held, by their marks. */
  readonly lines = new Map<string, SimLine>()
  operations = 0
  steps = 0
  #current: SimProcess | undefined
  #calm = false

  constructor(options: WorldOptions) {
    this.random = new SeededRandom(options.seed)
    this.faults = options.faults
    this.trace = new Trace({ keep: options.keepTrace ?? 50, listener: options.onTrace })
    this.#agenda = new Agenda(this.random.fork())
    this.driver = new SimProcess(this, this.#makeMachine("workload", 0), 1)
  }

  get now(): SimMicros {
    return this.#agenda.now
  }

  /** The process of the current step. */
  get current(): SimProcess | undefined {
    return this.#current
  }

  get machines(): readonly string[] {
    return [...this.#sites.keys()]
  }

  /** Adds a machine and starts its program. */
  start(name: string, program: Program, options: { readonly killable?: boolean } = {}): void {
    if (this.#sites.has(name)) throw new Error(`machine ${name} already exists`)
    const machine = this.#makeMachine(name, this.#sites.size + 1)
    const startedAt = captureCaller(this.start)
    const { killable = true } = options
    this.#sites.set(name, { machine, program, startedAt, killable, lives: 0, life: undefined })
    this.boot(name)
  }

  /** Starts the program of a machine that is down. */
  boot(name: string): void {
    const site = this.#site(name)
    if (site.life?.isAlive === true) return
    site.lives += 1
    const life = new SimProcess(this, site.machine, site.lives)
    site.life = life
    life.later(0, "start", () => {
      life.started()
      void site.program(this.lifeOf(life))
    })
  }

  lifeOf(proc: SimProcess): Life {
    const { assertions } = this
    const life: Life = {
      name: proc.name,
      host: proc.machine.host,
      ports: proc.ports,
      record: (event) => this.#recordBy(proc, event),
      always: (name, holds, detail = () => "") => {
        if (proc.isAlive) assertions.assertAlways(name, holds, detail)
      },
      sometimes: (name, holds = true) => {
        if (proc.isAlive) assertions.assertSometimes(name, holds)
      },
      trueMs: () => proc.now / 1000,
    }
    this.#processes.set(life, proc)
    return life
  }

  processOf(life: Life): SimProcess {
    const proc = this.#processes.get(life)
    if (proc === undefined) throw new Error(`${life.name} is not a life of this world`)
    return proc
  }

  /**
   * An event that a process records during a pause counts only once the pause is over, and never if the
   * process is killed before.
   */
  #recordBy(proc: SimProcess, event: SimEvent): void {
    if (!proc.isAlive) return
    this.#recordHeld(proc)
    if (proc.now === this.now) return this.assertions.record(event)
    proc.heldEvents.push({ at: proc.now, event })
    this.schedule(proc.now, undefined, `${proc.name} has got so far`, () => this.#recordHeld(proc))
  }

  /** Records held events in their order, before any later event of the process. */
  #recordHeld(proc: SimProcess): void {
    const { heldEvents } = proc
    while (proc.isAlive && heldEvents[0] !== undefined && heldEvents[0].at <= this.now) {
      this.assertions.record((heldEvents.shift() as (typeof heldEvents)[0]).event)
    }
  }

  crash(name: string): void {
    const { life } = this.#site(name)
    if (life?.isAlive !== true) return
    this.note(life, "crash")
    life.kill()
  }

  /** Returns the live process of a machine, if there is one. */
  processOn(name: string): SimProcess | undefined {
    const { life } = this.#site(name)
    return life?.isAlive === true ? life : undefined
  }

  get killable(): readonly string[] {
    return [...this.#sites.values()].filter((site) => site.killable).map((site) => site.machine.name)
  }

  /** Returns where the machine of a process was started; undefined for the process of the workload. */
  startOf({ machine }: SimProcess): CapturedStack | undefined {
    return this.#sites.get(machine.name)?.startedAt
  }

  machine(name: string): Machine {
    return this.#site(name).machine
  }

  schedule(at: SimMicros, proc: SimProcess | undefined, label: string, run: () => void): Step {
    return this.#agenda.add(Math.max(at, this.now), proc, label, run)
  }

  /** Makes a step that has waited ready again. */
  again(step: Step): void {
    this.#agenda.again(this.now, step)
  }

  /**
   * Begins the next step. Returns false if there is none, in which case no step will ever run again. The
   * caller must let the microtasks of the step run, and then call `endStep`.
   */
  beginStep(enter: (proc: SimProcess | undefined) => void = () => {}): boolean {
    for (;;) {
      const step = this.#agenda.take()
      if (step === undefined) return false
      const { process: proc } = step
      if (proc !== undefined && !proc.isAlive) continue
      if (proc?.isHalted) {
        proc.keepWaiting(step)
        continue
      }
      if (proc !== undefined && proc.busyUntil > this.now) {
        this.#agenda.again(proc.busyUntil, step)
        continue
      }
      this.steps += 1
      this.note(proc, step.label)
      this.#current = proc
      proc?.beginStep()
      enter(proc)
      step.run()
      return true
    }
  }

  endStep(): void {
    this.#current?.endStep()
    this.#current = undefined
    this.assertions.check()
  }

  note(proc: SimProcess | undefined, what: string): void {
    this.trace.add(`${String(this.now / 1000).padStart(12)} ${proc?.name ?? "world"} ${what}`)
  }

  /** Records an event for the invariants. */
  record(event: SimEvent): void {
    this.assertions.record(event)
  }

  fault(kind: FaultKind, detail: string): void {
    this.faultCounts.set(kind, (this.faultCounts.get(kind) ?? 0) + 1)
    this.note(undefined, `fault ${kind} ${detail}`)
  }

  /** Whether a fault strikes here; `often` is its probability at full intensity. */
  draw(kind: FaultKind, often: number): boolean {
    if (this.#calm || !this.random.chance(this.faults[kind] * often)) return false
    this.fault(kind, "")
    return true
  }

  /** Ends all faults: partitions heal, including those from stores, and paused processes resume. */
  calm(): void {
    this.#calm = true
    this.note(undefined, "calm")
    this.heal()
    for (const { life } of this.#sites.values()) life?.resume()
    for (const store of this.#stores) store.resume()
  }

  get isCalm(): boolean {
    return this.#calm
  }

  /** Cuts the traffic from `a` to `b`, until the returned function or `heal` is called. */
  cut(a: string, b: string): () => void {
    const direction = `${a}>${b}`
    const cuts = this.#cuts.get(direction) ?? new Set()
    const own = {}
    this.#cuts.set(direction, cuts.add(own))
    return () => {
      if (!cuts.delete(own)) return
      if (cuts.size === 0 && this.#cuts.get(direction) === cuts) this.#cuts.delete(direction)
      this.#wakeAll()
    }
  }

  heal(): void {
    this.#cuts.clear()
    this.#wakeAll()
    for (const store of this.#stores) store.heal()
  }

  addStore(store: SimStore): void {
    this.#stores.push(store)
  }

  #wakeAll(): void {
    for (const connection of this.connections()) connection.heal()
  }

  /** A host refuses connections itself if no process listens, so a cut loses these answers, too. */
  #isCutBetween({ name: a }: Machine, { name: b }: Machine): boolean {
    return this.#cuts.has(`${a}>${b}`) || this.#cuts.has(`${b}>${a}`)
  }

  isCut(from: SimProcess, to: SimProcess): boolean {
    return this.#cuts.size > 0 && this.#cuts.has(`${from.machine.name}>${to.machine.name}`)
  }

  connections(): readonly SimConnection[] {
    return [this.driver, ...[...this.#sites.values()].map((site) => site.life)].flatMap((life) =>
      life === undefined ? [] : [...life.network.connections],
    )
  }

  listenerAt(host: string, port: number): SimProcess | undefined {
    for (const { machine, life } of this.#sites.values()) {
      if (machine.host === host && life?.isAlive && life.network.acceptorAt(port) !== undefined) return life
    }
    return undefined
  }

  /** Sends a connection request and returns its answer to the client. A lost answer never arrives. */
  sendConnect(client: SimProcess, to: Endpoint, answer: (answer: "refused" | SimConnection) => void): void {
    if (this.draw("hanging-connect", 0.2)) return
    const back = (result: "refused" | SimConnection) =>
      this.schedule(this.now + this.latency(0), client, `connect ${to.host}:${to.port} answered`, () =>
        answer(result),
      )
    this.schedule(client.now + this.latency(0), undefined, `connect to ${to.host}:${to.port}`, () => {
      const host = [...this.#sites.values()].find(({ machine }) => machine.host === to.host)?.machine
      if (host !== undefined && this.#isCutBetween(client.machine, host)) return
      const server = this.listenerAt(to.host, to.port)
      if (server?.isSuspended) return
      if (server === undefined || this.draw("refused-connect", 0.2)) return back("refused")
      const far = server.network.openFrom(client, to)
      this.schedule(this.now, server, "accept", () => {
        const accept = server.network.acceptorAt(to.port)
        if (accept === undefined) far.destroy()
        else accept(far)
      })
      return back(far.peer)
    })
  }

  /** Returns the time that this number of bytes takes between two machines. */
  latency(bytes: number): SimMicros {
    const slow = this.faults["slow-network"]
    const spike =
      !this.#calm && this.random.chance(slow * 0.05) ? this.random.between(10_000, 1_000_000 * slow) : 0
    const bytesPerMicro = slow > 0 && !this.#calm ? 2 : 100
    return Math.ceil(this.random.between(100, 1_000 + 20_000 * slow) + spike + bytes / bytesPerMicro)
  }

  /** Returns the bytes as they arrive. */
  corrupted(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0 || !this.draw("corruption", 0.005)) return bytes
    const copy = bytes.slice()
    const at = this.random.below(copy.length)
    copy[at] = (copy[at] as number) ^ (1 << this.random.below(8))
    return copy
  }

  #makeMachine(name: string, index: number): Machine {
    const drift = this.faults["clock-drift"]
    return {
      name,
      host: `10.0.0.${index + 1}`,
      bootMs: this.random.below(1_000_000_000),
      clockRate: drift === 0 ? 1 : 1 + this.random.between(-0.05, 0.05) * drift,
      wallOffsetMs: this.random.below(60_000),
      suspendedMicros: 0,
    }
  }

  #site(name: string): Site {
    const site = this.#sites.get(name)
    if (site === undefined)
      throw new Error(`machine ${name} does not exist; the machines are ${this.machines.join(", ")}`)
    return site
  }
}

interface Site {
  readonly machine: Machine
  readonly program: Program
  readonly startedAt: CapturedStack
  readonly killable: boolean
  lives: number
  life: SimProcess | undefined
}
