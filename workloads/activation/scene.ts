import { CallError, oneWay, withOptions } from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import { type Answer, Asked, type Method } from "./asked.js"
import type { Outcome } from "./events.js"
import { letsIn } from "./performers.js"
import type { ActivationShow } from "./show.js"

/** What one system, and the actors on it, act by. */
export class Scene {
  readonly life: Life
  readonly show: ActivationShow
  readonly random: SeededRandom
  /** Of the system: no two of a run have the same. */
  readonly name: string
  /** Whether the catalog has that activation; the system sets it, once it is there. */
  isListed: (id: string, generation: number) => boolean = () => true
  #names = 0

  constructor(name: string, life: Life, show: ActivationShow) {
    this.name = name
    this.life = life
    this.show = show
    this.random = new SeededRandom(life.ports.random.uint32())
  }

  freshName(): string {
    this.#names += 1
    return `${this.name}:${this.#names}`
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.life.ports.clock.setTimer(ms, resolve))
  }

  /** With what chance adds. */
  drawn(draft: CallDraft): CallPlan {
    const { random, show } = this
    const isOneWay = draft.isOneWay ?? random.chance(0.15)
    const impatience = isOneWay || !random.chance(0.12) ? undefined : random.between(1, 400)
    return {
      ...draft,
      path: isOneWay && draft.from !== undefined ? this.#onwards(draft) : draft.path,
      isOneWay,
      thinkMs: random.chance(0.6) ? 0 : random.between(1, show.thinkMs),
      impatience,
      aborts: impatience !== undefined && random.chance(0.5),
    }
  }

  /** Resolves when it has ended, with why it failed if it did; at once for a one-way one. */
  async call(handleOf: HandleOf, plan: CallPlan): Promise<Error | undefined> {
    const { id, method, isOneWay, impatience, aborts } = plan
    const { life, show } = this
    const [type = "", key = ""] = id.split("/")
    const asked = new Asked({ ...plan, op: show.nextOp() })
    const timeoutMs = impatience !== undefined && !aborts ? impatience : show.settings.requestTimeoutMs
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
    const latest = plan.from === undefined ? 0 : show.latest(plan.from.id)
    const ended = (outcome: Outcome) => {
      const tookMs = life.ports.clock.monotonicMs() - beganMs
      life.record({ kind: "ended", op: asked.op, outcome, tookMs })
      // One that was refused at the door was not delivered.
      const isOut = outcome.kind === "answered" || outcome.delivery !== "not-delivered"
      if (isOut && plan.from !== undefined)
        life.record({ kind: "door", what: "message", ...plan.from, latest })
      if (outcome.kind === "answered") show.operation()
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

  /** Nobody waits for a one-way call, so no chain would show that it comes back to one who waits for another reason. */
  #onwards({ id, path }: CallDraft): readonly string[] {
    const { ids } = this.show
    const order = [id, ...path].map((each) => ids.indexOf(each))
    return path.filter((_, index) => (order[index + 1] as number) > (order[index] as number))
  }

  #abortingAfter(ms: number): AbortSignal {
    const controller = new AbortController()
    this.life.ports.clock.setTimer(ms, () => controller.abort(new Error("never mind")))
    return controller.signal
  }
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
  /** Whoever makes it does not wait for it. */
  readonly isAside?: boolean
}

export interface CallPlan extends CallDraft {
  readonly isOneWay: boolean
  readonly thinkMs: number
  /** After how long it is given up, if that is sooner than others are. */
  readonly impatience: number | undefined
  /** By a signal. */
  readonly aborts: boolean
}
