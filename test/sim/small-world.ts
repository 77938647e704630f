import type { CloseReason, Connection, Endpoint } from "../../src/ports/network.js"
import { type FaultPlan, noFaults } from "../../src/sim/faults.js"
import type { SimProcess } from "../../src/sim/sim-process.js"
import { World } from "../../src/sim/world.js"

export interface SmallWorldOptions {
  readonly seed?: number
  readonly faults?: Partial<FaultPlan>
}

/** A world whose steps the test runs itself; no fault strikes unless the test causes it. */
export class SmallWorld {
  readonly world: World

  constructor({ seed = 1, faults = {} }: SmallWorldOptions = {}) {
    this.world = new World({ seed, faults: { ...noFaults(), ...faults } })
    for (const name of ["alpha", "beta", "gamma"]) this.world.start(name, () => {})
  }

  process(name: string): SimProcess {
    const proc = this.world.processOn(name)
    if (proc === undefined) throw new Error(`${name} is down`)
    return proc
  }

  /** Runs `task` as a step of a process, and continues until its promise is settled. */
  async on<T>(name: string, task: (proc: SimProcess) => T | Promise<T>): Promise<T> {
    const proc = this.process(name)
    let over = false
    const outcome = new Promise<T>((resolve, reject) => {
      proc.later(0, "task", () => {
        Promise.resolve(proc)
          .then(task)
          .finally(() => {
            over = true
          })
          .then(resolve, reject)
      })
    })
    outcome.catch(() => {})
    await this.run(() => over)
    return outcome
  }

  /** Runs steps until `enough` returns true, or until no step is left. */
  async run(enough: () => boolean = () => false): Promise<void> {
    while (!enough() && this.world.beginStep()) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      this.world.endStep()
    }
  }

  async runFor(ms: number): Promise<void> {
    let over = false
    this.world.schedule(this.world.now + ms * 1000, undefined, "enough", () => {
      over = true
    })
    await this.run(() => over)
  }

  /** A connection from alpha to beta, with a recording handler at both ends. */
  async connected(options: { readonly attached?: boolean } = {}): Promise<{ near: Witness; far: Witness }> {
    const at = { host: this.process("beta").machine.host, port: 7_000 }
    let far: Witness | undefined
    const listener = await this.on("beta", (beta) =>
      beta.ports.network.listen(at, (connection) => {
        far = new Witness(connection, beta)
        if (options.attached !== false) far.attach()
      }),
    )
    const near = await this.on("alpha", async (alpha) => {
      const witness = new Witness(await alpha.ports.network.connect(at), alpha)
      witness.attach()
      return witness
    })
    await this.run(() => far !== undefined)
    await listener.close()
    return { near, far: far as Witness }
  }
}

/** One end of a connection, and a record of the calls to its handler. */
export class Witness {
  readonly connection: Connection
  readonly process: SimProcess
  readonly told: string[] = []
  readonly chunks: Uint8Array[] = []
  /** Called before `data` returns. */
  onData: () => void = () => {}
  onEnded: () => void = () => {}
  reason: CloseReason | undefined

  constructor(connection: Connection, proc: SimProcess) {
    this.connection = connection
    this.process = proc
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.chunks)
  }

  get text(): string {
    return Buffer.from(this.bytes).toString()
  }

  attach(): void {
    this.connection.attach({
      data: (chunk) => {
        this.told.push("data")
        this.chunks.push(chunk)
        this.onData()
      },
      drained: () => this.told.push("drained"),
      ended: () => {
        this.told.push("ended")
        this.onEnded()
      },
      closed: (reason) => {
        this.told.push(reason.kind === "failed" ? `closed: ${reason.error.code}` : `closed: ${reason.kind}`)
        this.reason = reason
      },
    })
  }
}

export function text(words: string): Uint8Array {
  return new Uint8Array(Buffer.from(words))
}

export function endpointOf(proc: SimProcess, port: number): Endpoint {
  return { host: proc.machine.host, port }
}
