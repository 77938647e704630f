/**
 * Receives metrics and spans. The shape follows OpenTelemetry, so that an adapter to it is a dozen lines; the
 * runtime itself depends on no telemetry library.
 */
export interface Telemetry {
  /** Creates a counter. A second call with the same name returns an instrument of the same series. */
  counter(name: string, description?: InstrumentDescription): Counter
  /** Creates a histogram, under the same rule as `counter`. */
  histogram(name: string, description?: InstrumentDescription): Histogram
  /** Starts a span. */
  span(name: string, options?: SpanOptions): Span
}

/** The unit and the description of an instrument. */
export interface InstrumentDescription {
  /** The unit of the values, such as `ms` or `By`. */
  readonly unit?: string
  /** A description for people. */
  readonly description?: string
}

/** Named values of a measurement or a span. */
export type Attributes = Readonly<Record<string, string | number | boolean>>

/** A metric that only grows. */
export interface Counter {
  /** Adds `amount`, which must not be negative. Default 1. */
  add(amount?: number, attributes?: Attributes): void
}

/** A distribution of values. */
export interface Histogram {
  /** Records a value. */
  record(value: number, attributes?: Attributes): void
}

/** Identifies a span across nodes; it has the fields of a W3C trace context. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  /** Whether the trace is recorded. */
  readonly sampled: boolean
}

/** Options of a span. */
export interface SpanOptions {
  /** The span that this one is part of. */
  readonly parent?: TraceContext
  /** The attributes that are known when the span starts. */
  readonly attributes?: Attributes
}

/** An operation with a beginning and an end. */
export interface Span {
  /** Undefined if the span is not recorded; then no context is sent with calls. */
  readonly context: TraceContext | undefined
  /** Adds attributes. */
  set(attributes: Attributes): void
  /** Records that the operation failed. */
  fail(error: unknown): void
  /** Ends the span. */
  end(): void
}
