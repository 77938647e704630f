export { NetworkError, type NetworkErrorCode } from "./errors/network-error.js"
export { TroupeError } from "./errors/troupe-error.js"
export type { Clock, MonotonicMs, Timer, WallMs } from "./ports/clock.js"
export type { LogFields, Logger, LogLevel } from "./ports/logger.js"
export type {
  CloseReason,
  Connection,
  ConnectionHandler,
  ConnectOptions,
  Endpoint,
  Listener,
  Network,
} from "./ports/network.js"
export type { Random } from "./ports/random.js"
export type { Scheduler } from "./ports/scheduler.js"
export type {
  Attributes,
  Counter,
  Histogram,
  InstrumentDescription,
  Span,
  SpanOptions,
  Telemetry,
  TraceContext,
} from "./ports/telemetry.js"
