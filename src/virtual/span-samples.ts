import { LatencyBuckets } from "../actor/latency-buckets.js"
import { Recent } from "../actor/recent.js"
import type { ActorId } from "../address/actor-id.js"
import type { Clock } from "../ports/clock.js"
import type { Span, TraceContext } from "../ports/telemetry.js"
import { codeOf } from "./error-counts.js"

/**
 * Spans of some calls and turns, for as long as somebody watches this system.
 *
 * A call from outside is sampled if there is room; what is called on its behalf is part of the same sample,
 * on whichever node, as its trace travels with it. So a sample is the whole tree of one call. There is room
 * for some calls every 50 ms, and then for none until the next time: an idle node samples all of its calls
 * and a busy one a few hundred per second, which cost it nothing in between. A fixed share would cost a busy
 * node too much, or show an idle one nothing.
 */
export class SpanSamples {
  readonly recent = new Recent<SampledSpan>(MOST_KEPT)
  readonly calls = new Map<string, LatencyBuckets>()
  readonly turns = new Map<string, LatencyBuckets>()
  /** How long the store took for each save of a state. */
  readonly commits = new LatencyBuckets()
  readonly #clock: Clock
  /** 16 hexadecimal digits that other processes do not have. */
  readonly #caller: string
  readonly #wallOffsetMs: number
  #number = 0
  #room = ROOM

  constructor(clock: Clock, caller: string) {
    this.#clock = clock
    this.#caller = caller
    this.#wallOffsetMs = clock.wallMs() - clock.monotonicMs()
  }

  get hasRoom(): boolean {
    return this.#room > 0
  }

  /** Takes the room for one sample. Returns false if there is none. */
  take(): boolean {
    if (this.#room === 0) return false
    this.#room -= 1
    return true
  }

  /** Called about every 50 ms. */
  refill(): void {
    this.#room = ROOM
  }

  /** `inner` is the span of the program's own telemetry, if it has one. */
  begin(
    what: { readonly kind: "call" | "turn"; readonly id: ActorId; readonly method: string },
    parent: TraceContext | undefined,
    inner?: Span,
  ): SampledSpan {
    this.#number += 1
    const number = this.#number.toString(16)
    const context = inner?.context ?? {
      traceId: parent?.traceId ?? this.#caller + number.padStart(16, "0"),
      spanId: this.#caller.slice(0, 8) + number.padStart(8, "0").slice(-8),
      sampled: true,
    }
    return new SampledSpan(this, what, { context, parentId: parent?.spanId, inner })
  }

  get now(): number {
    return this.#clock.monotonicMs()
  }

  ended(span: SampledSpan, durationMs: number): void {
    this.recent.add(span)
    const buckets = span.kind === "call" ? this.calls : this.turns
    const { type } = span.id
    const known = buckets.get(type)
    if (known !== undefined) return known.record(durationMs)
    // The type of a call may be any text.
    if (buckets.size >= MOST_TYPES) return
    const created = new LatencyBuckets()
    buckets.set(type, created)
    created.record(durationMs)
  }

  /** The time of day of a monotonic time; unlike that of the clock it has fractions of milliseconds. */
  wallMsOf(monotonicMs: number): number {
    return monotonicMs + this.#wallOffsetMs
  }
}

/** A call or a turn that is sampled. */
export class SampledSpan implements Span {
  readonly kind: "call" | "turn"
  readonly id: ActorId
  readonly method: string
  readonly context: TraceContext
  readonly parentId: string | undefined
  readonly startedAt: number
  durationMs = 0
  /** The code of the error that it failed with. */
  failed: string | undefined = undefined
  readonly #samples: SpanSamples
  readonly #inner: Span | undefined

  constructor(
    samples: SpanSamples,
    { kind, id, method }: { readonly kind: "call" | "turn"; readonly id: ActorId; readonly method: string },
    {
      context,
      parentId,
      inner,
    }: {
      readonly context: TraceContext
      readonly parentId: string | undefined
      readonly inner: Span | undefined
    },
  ) {
    this.kind = kind
    this.id = id
    this.method = method
    this.context = context
    this.parentId = parentId
    this.#samples = samples
    this.#inner = inner
    this.startedAt = samples.now
  }

  get startedAtWallMs(): number {
    return this.#samples.wallMsOf(this.startedAt)
  }

  set(attributes: Parameters<Span["set"]>[0]): void {
    this.#inner?.set(attributes)
  }

  fail(error: unknown): void {
    this.failed = codeOf(error)
    this.#inner?.fail(error)
  }

  end(): void {
    this.durationMs = this.#samples.now - this.startedAt
    this.#samples.ended(this, this.durationMs)
    this.#inner?.end()
  }
}

const ROOM = 12
const MOST_KEPT = 512
const MOST_TYPES = 256
