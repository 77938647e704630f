export type { ActorContext, SpawnOptions } from "./actor/actor-context.js"
export { DeathPactError, NameTakenError, StashOverflowError } from "./actor/actor-errors.js"
export { ActorAbandoned, ActorFailed } from "./actor/actor-events.js"
export type { ActorRef } from "./actor/actor-ref.js"
export type { AskOptions } from "./actor/ask.js"
export type { Behavior, MaybePromise, OnMessage, OnSignal } from "./actor/behavior.js"
export { Behaviors } from "./actor/behaviors.js"
export { DeadLetter, type DeadLetterReason, UndeliveredCall } from "./actor/dead-letters.js"
export type { EventClass, EventStream, Subscription } from "./actor/event-stream.js"
export { PostStop, PreRestart, type Signal, Terminated } from "./actor/signals.js"
export type { StashBuffer } from "./actor/stash.js"
export type { ErrorClass, SupervisionOptions } from "./actor/supervision.js"
export type { Timers } from "./actor/timers.js"
export { ActorId } from "./address/actor-id.js"
export { ActorIdError, type ActorIdErrorCode } from "./address/actor-id-error.js"
export { ActorPath, type Guardian, type ParseOptions } from "./address/actor-path.js"
export { ActorPathError, type ActorPathErrorCode } from "./address/actor-path-error.js"
export { ActorSelection, type AuthorityState, type SelectionDestination } from "./address/actor-selection.js"
export type { Address, AddressParts, Scheme } from "./address/address.js"
export { NodeId } from "./address/node-id.js"
export { NodeIdError, type NodeIdErrorCode } from "./address/node-id-error.js"
export { PathResolutionError, type PathResolutionErrorCode } from "./address/path-resolution-error.js"
export { UriError, type UriPart } from "./address/uri-error.js"
export {
  ActivationError,
  CallCycleError,
  PlacementError,
  type PlacementProblem,
  UnknownActorTypeError,
  UnknownMethodError,
} from "./errors/actor-call-errors.js"
export {
  ActorStoppedError,
  CallError,
  CancelledError,
  type Delivery,
  FencedError,
  InvalidMessageError,
  NodeUnreachableError,
  OverloadedError,
  QuarantinedError,
  TimeoutError,
} from "./errors/call-errors.js"
export { ImportError } from "./errors/import-error.js"
export { IndexBuildingError, type IndexProgress, NotUniqueError } from "./errors/index-errors.js"
export { MalformedBytesError } from "./errors/malformed-bytes-error.js"
export { NetworkError, type NetworkErrorCode } from "./errors/network-error.js"
export { OperationEndedError, OperationMismatchError } from "./errors/operation-errors.js"
export { SettingsError } from "./errors/settings-error.js"
export { StateError, type StateProblem } from "./errors/state-error.js"
export {
  type Commitment,
  type StoreErrorOptions,
  type StoreProblem,
  StoreUnavailableError,
} from "./errors/store-errors.js"
export { TroupeError } from "./errors/troupe-error.js"
export { ClusterView } from "./membership/cluster-view.js"
export type { Figures } from "./membership/gossip-state.js"
export type { Member, MemberStatus } from "./membership/member.js"
export {
  LeaderChanged,
  MemberDowned,
  MemberExiting,
  MemberJoining,
  MemberLeaving,
  MemberLeft,
  MemberRemoved,
  MemberUp,
  NodeFenced,
  NodeRejoined,
  ReachableMember,
  UnreachableMember,
} from "./membership/member-events.js"
export {
  downAll,
  keepMajority,
  keepOldest,
  type SplitBrainDecision,
  type SplitBrainMember,
  type SplitBrainSituation,
  type SplitBrainStrategy,
  staticQuorum,
} from "./membership/split-brain.js"
export { ActorSystem } from "./node-actor-system.js"
export { type PlacementEvent, PlacementHappened } from "./placement/placement-log.js"
export type { Candidate } from "./placement/placement-protocol.js"
export { rendezvous } from "./placement/rendezvous.js"
export { type ShardedOptions, ShardedPlacement, sharded } from "./placement/sharded.js"
export {
  leastLoadedOfTwo,
  type PlacementContext,
  type PlacementStrategy,
  preferLocal,
  random,
} from "./placement/strategies.js"
export type { Clock, MonotonicMs, Timer, WallMs } from "./ports/clock.js"
export type {
  ByteSink,
  Codec,
  CodecFactory,
  CodecPurpose,
  CodecTools,
  RefTexts,
  TypeNames,
  TypeOnTheWire,
} from "./ports/codec.js"
export type { Digest } from "./ports/digest.js"
export type { Following, HeldLine, Lifeline } from "./ports/lifeline.js"
export type { LogFields, Logger, LogLevel } from "./ports/logger.js"
export type {
  CloseReason,
  Connection,
  ConnectionHandler,
  ConnectOptions,
  Endpoint,
  Listener,
  ListenOptions,
  Network,
  TlsOptions,
} from "./ports/network.js"
export type { Random } from "./ports/random.js"
export type { Scheduler } from "./ports/scheduler.js"
export type {
  Change,
  ClusterStore,
  Commit,
  CommitResult,
  Condition,
  Entry,
  Found,
  Listing,
  ListOptions,
  Moment,
  Revision,
  Sight,
  StoreInThread,
  StoreProvider,
  StoreWatch,
  StoreWatcher,
  Write,
} from "./ports/store.js"
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
export type { TurnContext } from "./ports/turn-context.js"
export type { OrderedValue } from "./registry/ordered-value.js"
export {
  AssociationConnected,
  AssociationFailed,
  AssociationLost,
  AssociationQuarantined,
  ConnectionRefused,
  InvalidAssociation,
} from "./remote/association-events.js"
export type { DisconnectReason, HandshakeRefusal } from "./remote/disconnect-reason.js"
export { type ConsoleLoggerOptions, consoleLogger } from "./runtime/console-logger.js"
export { binaryCodec } from "./serialization/binary-codec.js"
export type { CodecLimits } from "./serialization/codec-limits.js"
export { jsonCodec } from "./serialization/json-codec.js"
export type { WireType } from "./serialization/type-registry.js"
export {
  type LeastShardsOptions,
  leastShards,
  type ShardAllocation,
  type ShardSituation,
} from "./sharding/entities/allocation.js"
export type {
  EntityContext,
  EntityOptions,
  EntityPersistence,
  RememberedEntities,
  ShardEnvelope,
  Sharding,
  ShardRegion,
} from "./sharding/entities/entity-options.js"
export {
  EntitiesLeftBehind,
  EntityHookFailed,
  ShardBufferOverflowed,
  ShardHandOffAbandoned,
  ShardStarted,
  ShardStopped,
} from "./sharding/entities/sharding-events.js"
export { ShardMoveAbandoned, ShardMoved } from "./sharding/shard-events.js"
export { memoryStore } from "./stores/memory-store.js"
export type { ActorKeys, KeyPage, ListActorsOptions } from "./system/actor-keys.js"
export type { ActorPlace } from "./system/actor-place.js"
export { type ExportActorsOptions, exportActors } from "./system/export-actors.js"
export { type ImportActorsOptions, type ImportProgress, importActors } from "./system/import-actors.js"
export type {
  ActivationInspection,
  ActorInspection,
  InspectOptions,
  StateInspection,
  StoredInspection,
  TurnInspection,
} from "./system/inspection.js"
export type { ListenSettings, RemoteSettings } from "./system/remote-settings.js"
export type { ActorSystemSettings } from "./system/settings.js"
export type {
  ClusterSnapshot,
  ClusterSnapshotOptions,
  CountersSnapshot,
  EventSnapshot,
  LatencySnapshot,
  LifeSnapshot,
  MemberSnapshot,
  MissingSnapshot,
  RunningActorSnapshot,
  ShardsSnapshot,
  SnapshotOptions,
  SpanSnapshot,
  StoreSnapshot,
  SystemSnapshot,
  TroubleKind,
  TroubleSnapshot,
  TypeSnapshot,
} from "./system/snapshot.js"
export type { StartOptions } from "./system/start-options.js"
export type { HealthTrouble, SystemHealth } from "./system/system-health.js"
export { ActivationBecame, ActorsLeftBehind, MessageStuck, TurnOverdue } from "./virtual/activation-events.js"
export type { ActivationState } from "./virtual/activation-lifecycle.js"
export {
  Actor,
  type ActorTimer,
  type ActorTimers,
  type ActorWatch,
  type DeactivationReason,
  type NoInitialState,
  type UndeliveredMessage,
} from "./virtual/actor.js"
export type { ActorClass, ActorHandle, IndexOptions, MethodOptions } from "./virtual/actor-class.js"
export type { FindOptions, FindQuery, FindRange, FoundActors } from "./virtual/find.js"
export { type CallOptions, type OneWayHandle, oneWay, withOptions } from "./virtual/handle.js"
export type { Principal } from "./virtual/principal.js"
export { type ProvidedActor, provide, type RegisteredActor } from "./virtual/provide.js"
export type { ActorReminders, Reminder } from "./virtual/reminders.js"
export type { MissedOptions, Schedule } from "./virtual/schedule.js"
export type { StandardSchema } from "./virtual/standard-schema.js"
