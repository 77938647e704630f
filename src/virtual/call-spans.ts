import type { Span, Telemetry, TraceContext } from "../ports/telemetry.js"
import type { Tenure } from "../registry/tenure.js"
import type { ActorTarget } from "./actor-target.js"
import type { SpanSamples } from "./span-samples.js"
import type { Turn } from "./turn.js"
import { Failure } from "./turn-result.js"

/**
 * Begins the spans of calls and turns: for the telemetry of the program, and for the samples while somebody
 * watches. A node that has neither has no such object, so that its calls cost nothing.
 */
export class CallSpans {
  /** Whether calls from outside actors have no span at the moment, so that nobody need ask. */
  isShut = false
  readonly #telemetry: Telemetry | undefined
  readonly #samples: SpanSamples | undefined

  constructor(telemetry: Telemetry | undefined, samples: SpanSamples | undefined) {
    this.#telemetry = telemetry
    this.#samples = samples
  }

  /** Undefined if there is neither, and calls have no spans. */
  static of(telemetry: Telemetry | undefined, samples?: SpanSamples): CallSpans | undefined {
    return telemetry === undefined && samples === undefined ? undefined : new CallSpans(telemetry, samples)
  }

  /** There is room for further samples. */
  refill(): void {
    this.#samples?.refill()
    this.isShut = false
  }

  ofCall(target: ActorTarget, method: string): Span | undefined {
    const { maker } = target
    const parent = maker === undefined ? undefined : maker.currentTurn?.span?.context
    if (this.#telemetry === undefined) {
      const isSampled = parent !== undefined || this.#takes()
      return isSampled ? this.#samples?.begin({ kind: "call", id: target.id, method }, parent) : undefined
    }
    const own = callSpan(this.#telemetry, target, method, parent)
    if (!this.#takes()) return own
    return this.#samples?.begin({ kind: "call", id: target.id, method }, parent, own)
  }

  /** A turn without a trace was called by a call that is not sampled, unless the program traces all. */
  ofTurn(turn: Turn, tenure: Tenure): Span | undefined {
    const { trace } = turn.invocation
    if (this.#telemetry === undefined) {
      if (trace === undefined) return undefined
      return this.#samples?.begin({ kind: "turn", id: tenure.id, method: turn.name }, trace)
    }
    const own = turnSpan(turn, tenure, this.#telemetry)
    if (!this.#takes()) return own
    return this.#samples?.begin({ kind: "turn", id: tenure.id, method: turn.name }, trace, own)
  }

  #takes(): boolean {
    const samples = this.#samples
    if (samples?.take() !== true) return false
    this.isShut = this.#telemetry === undefined && !samples.hasRoom
    return true
  }
}

export function endTurnSpan(span: Span, given: unknown): void {
  if (given instanceof Failure) span.fail(given.error)
  span.end()
}

function turnSpan(turn: Turn, { id, generation }: Tenure, telemetry: Telemetry): Span {
  const attributes = { "troupe.actor": id.toString(), "troupe.generation": generation }
  const parent = turn.invocation.trace
  const options = parent === undefined ? { attributes } : { attributes, parent }
  return telemetry.span(`${turn.runner.type.name}.${turn.name}`, options)
}

function callSpan(
  telemetry: Telemetry,
  { id }: ActorTarget,
  method: string,
  parent: TraceContext | undefined,
): Span {
  const attributes = { "troupe.actor": id.toString() }
  const options = parent === undefined ? { attributes } : { attributes, parent }
  return telemetry.span(`call ${id.type}.${method}`, options)
}
