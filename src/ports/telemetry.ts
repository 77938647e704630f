/**
 * Numbers and spans for whoever watches the system. The shape follows OpenTelemetry's, so that an adapter to
 * it is a dozen lines; the runtime itself depends on no telemetry library.
 */
export interface Telemetry {
  /** Asking for the same name again gives an instrument that counts into the same series. */
  counter(name: string, description?: InstrumentDescription): Counter
  histogram(name: string, description?: InstrumentDescription): Histogram
  span(name: string, options?: SpanOptions): Span
}

export interface InstrumentDescription {
  readonly unit?: string
  readonly description?: string
}

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface Counter {
  /** `amount` is not negative; 1 unless given. */
  add(amount?: number, attributes?: Attributes): void
}

export interface Histogram {
  record(value: number, attributes?: Attributes): void
}

/** What identifies a span across nodes; the same fields as W3C trace context. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  readonly sampled: boolean
}

export interface SpanOptions {
  readonly parent?: TraceContext
  readonly attributes?: Attributes
}

export interface Span {
  /** Absent where nothing is recorded; then there is nothing to send along. */
  readonly context: TraceContext | undefined
  set(attributes: Attributes): void
  fail(error: unknown): void
  end(): void
}
