import { ProcessDiedError, type Stage } from "../../src/sim/index.js"
import { drawAsked, notDelivered, type Outcome } from "./activation.js"
import { Ambush } from "./ambush.js"
import type { Host } from "./host.js"
import type { RegistryShow } from "./show.js"

/** Whether the store begins new epochs, and loses commits with that. */
export type Epochs = "one" | "many" | "lossy"

/** What is asked of the nodes from outside. */
export class Play {
  readonly #stage: Stage
  readonly #show: RegistryShow
  readonly machines: readonly string[]
  readonly #epochs: Epochs
  readonly #ambush: Ambush
  readonly #thinkMs: number
  readonly #pauseMs: number
  readonly #untilMs: number
  readonly #underWay = new Set<number>()
  #ops = 0

  constructor(
    stage: Stage,
    show: RegistryShow,
    { machines, epochs }: { readonly machines: readonly string[]; readonly epochs: Epochs },
  ) {
    this.#stage = stage
    this.#show = show
    this.machines = machines
    this.#epochs = epochs
    this.#ambush = new Ambush(stage, show)
    this.#thinkMs = stage.knob("thinkMs", [20, 500])
    this.#pauseMs = stage.knob("pauseMs", [200, 1_000])
    this.#untilMs = stage.nowMs + stage.knob("lastsMs", [8_000, 20_000])
  }

  /** Whoever is asked by a client that waits for longer than this lasts is asked no more. */
  async run(): Promise<void> {
    const stage = this.#stage
    for (const machine of this.machines) {
      void this.#client(machine)
      void this.#listen(machine)
    }
    void this.#direct()
    await stage.sleep(this.#untilMs - stage.nowMs)
  }

  /** What has been asked for, and has not ended. */
  get underWay(): readonly number[] {
    return [...this.#underWay]
  }

  async operate(machine: string, id: string): Promise<{ readonly op: number; readonly outcome: Outcome }> {
    const stage = this.#stage
    this.#ops += 1
    const asked = drawAsked(this.#ops, id, stage.random, this.#thinkMs)
    this.#underWay.add(asked.op)
    const outcome = await this.#on<Outcome>(machine, (host) => host.operate(asked), {
      absent: notDelivered("there is no node"),
      died: { kind: "unknown" },
    })
    this.#underWay.delete(asked.op)
    if (outcome.kind === "not-delivered") {
      stage.record({ kind: "not-done", op: asked.op, because: outcome.because })
    }
    if (outcome.kind === "done") stage.operation()
    stage.sometimes(`an operation is ${outcome.kind}`)
    return { op: asked.op, outcome }
  }

  async #client(machine: string): Promise<void> {
    const { random } = this.#stage
    while (!this.#isOver) {
      await this.#stage.sleep(random.between(0, this.#pauseMs))
      const id = random.chance(0.5) ? (this.#show.ids[0] as string) : random.pick(this.#show.ids)
      await this.operate(machine, id)
    }
  }

  /** Asked from outside, so that it is asked at any moment, and first of all when a machine comes out of a pause. */
  async #listen(machine: string): Promise<void> {
    const { random } = this.#stage
    while (!this.#isOver) {
      await this.#stage.sleep(random.between(0, 2 * this.#show.speakMs))
      await this.#tell(machine, (host) => host.speak())
    }
  }

  /** Now and then something is done to the nodes that is no fault. */
  async #direct(): Promise<void> {
    const stage = this.#stage
    const { random } = stage
    while (!this.#isOver) {
      await stage.sleep(random.between(0, 1_500))
      if (this.#isOver) return
      const machine = random.pick(this.machines)
      switch (random.below(9)) {
        case 0:
          void this.#tell(machine, (host) => host.leave())
          break
        case 1: {
          const host = stage.hostOf(random.pick(this.machines))
          void this.#tell(machine, (from) => from.down(host))
          break
        }
        case 2:
          if (random.chance(0.3)) this.#beginEpoch()
          break
        case 3:
          if (stage.faults.crash > 0 && random.chance(0.3)) this.#crashAll()
          break
        case 4:
        case 5:
          this.#ambush.arm(machine)
          break
        default: {
          const id = random.pick(this.#show.ids)
          for (const each of this.machines) void this.#tell(each, (host) => host.release(id))
        }
      }
    }
  }

  #beginEpoch(): void {
    const { store } = this.#show
    if (this.#epochs === "many") store.cutHistory(0)
    if (this.#epochs === "lossy") store.cutHistory(this.#stage.random.below(20))
  }

  /** Nobody is left who knows anything. */
  #crashAll(): void {
    this.#stage.sometimes("all nodes die at once")
    for (const machine of this.machines) {
      this.#stage.crash(machine)
      void this.#stage.sleep(this.#stage.random.between(0, 2_000)).then(() => this.#stage.boot(machine))
    }
  }

  get #isOver(): boolean {
    return this.#stage.nowMs >= this.#untilMs
  }

  /** What is said instead where there is no node, or it dies. */
  async #on<T>(
    machine: string,
    task: (host: Host) => Promise<T>,
    otherwise: { readonly absent: T; readonly died: T },
  ): Promise<T> {
    const { hosts } = this.#show
    try {
      return await this.#stage.on(machine, () => {
        const host = hosts.get(machine)
        return host === undefined ? otherwise.absent : task(host)
      })
    } catch (error) {
      if (!(error instanceof ProcessDiedError)) throw error
      return otherwise.died
    }
  }

  /** Whatever becomes of it. */
  async #tell(machine: string, task: (host: Host) => void | Promise<void>): Promise<void> {
    await this.#on(machine, async (host) => task(host), { absent: undefined, died: undefined })
  }
}
