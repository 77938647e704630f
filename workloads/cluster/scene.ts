import { CallError, oneWay, withOptions } from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import { type Answer, Asked, type Method } from "./asked.js"
import { type Cluster, sleep } from "./cluster.js"
import type { Outcome } from "./events.js"
import type { NodeTap } from "./node-tap.js"
import { letsIn } from "./performers.js"
import type { Traffic } from "./traffic.js"

/** What the clients and actors of one system have in common. */
export class Scene {
  readonly tap: NodeTap
  readonly life: Life
  readonly cluster: Cluster
  readonly traffic: Traffic
  readonly random: SeededRandom
  /** Each makes an activation that runs, or has ended just now, do something outside of its turns. */
  readonly speakers = new Set<() => void>()
  /** Whether the catalog has that activation; the system sets it, once it is there. */
  isListed: (id: string, actor: object) => boolean = () => true
  /** The activations that have turns or hooks in progress, in the catalog or not. */
  readonly #running = new Map<Running, number>()
  #names = 0

  constructor(tap: NodeTap, traffic: Traffic) {
    this.tap = tap
    this.life = tap.life
    this.cluster = tap.cluster
    this.traffic = traffic
    this.random = new SeededRandom(tap.life.ports.random.uint32())
  }

  /** Of the system. */
  get name(): string {
    return this.tap.name
  }

  freshName(): string {
    this.#names += 1
    return `${this.name}:${this.#names}`
  }

  /** A turn or a hook of the activation begins. Returns the others of its actor that share its token. */
  codeBegan(running: Running): readonly string[] {
    this.#running.set(running, (this.#running.get(running) ?? 0) + 1)
    const others = [...this.#running.keys()].filter((one) => one !== running && one.id() === running.id())
    return others.filter((one) => one.token() === running.token()).map(({ by }) => by)
  }

  codeEnded(running: Running): void {
    const left = (this.#running.get(running) ?? 0) - 1
    if (left > 0) this.#running.set(running, left)
    else this.#running.delete(running)
  }

  sleep(ms: number): Promise<void> {
    return sleep(this.life, ms)
  }

  /** With what chance adds. */
  drawn(draft: CallDraft): CallPlan {
    const { random, traffic } = this
    const isOneWay = draft.isOneWay ?? random.chance(0.15)
    const impatience = isOneWay || !random.chance(0.12) ? undefined : random.between(1, 400)
    return {
      ...draft,
      path: isOneWay && draft.from !== undefined ? this.#onwards(draft) : draft.path,
      isOneWay,
      thinkMs: random.chance(0.6) ? 0 : random.between(1, traffic.thinkMs),
      impatience,
      aborts: impatience !== undefined && random.chance(0.5),
    }
  }

  /** Resolves when it has ended, with why it failed if it did; at once for a one-way one. */
  async call(handleOf: HandleOf, plan: CallPlan): Promise<Error | undefined> {
    const { id, method, isOneWay, impatience, aborts } = plan
    const { life, cluster } = this
    const [type = "", key = ""] = id.split("/")
    const asked = new Asked({ ...plan, op: cluster.nextOp() })
    const { timeoutMs: usualMs = cluster.settings.requestTimeoutMs } = plan
    const timeoutMs = impatience !== undefined && !aborts ? impatience : usualMs
    const isCycle = !isOneWay && plan.chain.includes(id) && !letsIn(id, method)
    life.record({
      kind: "made",
      op: asked.op,
      id,
      method,
      isOneWay,
      host: this.name,
      timeoutMs,
      isImpatient: impatience !== undefined,
      isCycle,
      waitsBehind: isCycle ? plan.waits[plan.chain.indexOf(id)] : undefined,
      isUnawaited: plan.from !== undefined && (isOneWay || plan.isAside === true),
    })
    const beganMs = life.ports.clock.monotonicMs()
    const madeAtMs = cluster.stage.nowMs
    const ended = (outcome: Outcome) => {
      const tookMs = life.ports.clock.monotonicMs() - beganMs
      life.record({ kind: "ended", op: asked.op, outcome, tookMs })
      // One that was refused at the door was not delivered.
      const isOut = outcome.kind === "answered" || outcome.delivery !== "not-delivered"
      if (isOut && plan.from !== undefined) this.tap.passed({ what: "message", ...plan.from }, madeAtMs)
      if (outcome.kind === "answered") cluster.stage.operation()
      else life.sometimes(`a call fails: ${outcome.code}`)
    }
    try {
      const handle = handleOf(type, key)
      if (isOneWay) {
        oneWay(handle)[method](asked)
        return undefined
      }
      const signal = aborts ? this.#abortingAfter(impatience as number) : undefined
      const answer = await withOptions(handle, { timeoutMs, ...(signal && { signal }) })[method](asked)
      ended({ kind: "answered", op: answer.op })
      return undefined
    } catch (error) {
      ended(outcomeOf(error as Error))
      return error as Error
    }
  }

  /**
   * Nobody waits for a one-way call, so no chain would show that it comes back to one who waits for another
   * reason.
   */
  #onwards({ id, path }: CallDraft): readonly string[] {
    const { ids } = this.traffic
    const order = [id, ...path].map((each) => ids.indexOf(each))
    return path.filter((_, index) => (order[index + 1] as number) > (order[index] as number))
  }

  #abortingAfter(ms: number): AbortSignal {
    const controller = new AbortController()
    this.life.ports.clock.setTimer(ms, () => controller.abort(new Error("never mind")))
    return controller.signal
  }
}

/** An activation whose code runs. */
export interface Running {
  readonly by: string
  id(): string
  /** Its fencing token by now. */
  token(): number
}

export function outcomeOf(error: Error): Outcome {
  const { code = error.name } = error as { code?: string }
  const delivery = error instanceof CallError ? error.delivery : undefined
  return { kind: "failed", code, delivery, message: error.message }
}

export type PerformerHandle = { readonly [Name in Method]: (asked: Asked) => Promise<Answer> }
export type HandleOf = (type: string, key: string) => PerformerHandle

export interface CallDraft {
  readonly id: string
  readonly method: Method
  readonly sender: string
  readonly seq: number
  readonly chain: readonly string[]
  readonly waits: readonly number[]
  readonly path: readonly string[]
  readonly from: Asked["from"]
  readonly isOneWay?: boolean
  /** Its maker does not wait for it. */
  readonly isAside?: boolean
  readonly via?: readonly string[]
}

export interface CallPlan extends CallDraft {
  readonly isOneWay: boolean
  readonly thinkMs: number
  /** After how long it is given up, if that is sooner than others are. */
  readonly impatience: number | undefined
  /** By a signal. */
  readonly aborts: boolean
  /** Default that of the cluster. */
  readonly timeoutMs?: number
}
