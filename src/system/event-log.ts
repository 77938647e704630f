import { ActorAbandoned, ActorFailed } from "../actor/actor-events.js"
import type { EventClass, EventStream, Subscription } from "../actor/event-stream.js"
import { Recent } from "../actor/recent.js"
import { ActorId } from "../address/actor-id.js"
import { messageOf } from "../errors/thrown.js"
import type { Member } from "../membership/member.js"
import {
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
} from "../membership/member-events.js"
import type { Clock } from "../ports/clock.js"
import {
  AssociationConnected,
  AssociationFailed,
  AssociationLost,
  AssociationQuarantined,
  ConnectionRefused,
  InvalidAssociation,
} from "../remote/association-events.js"
import { ShardMoveAbandoned, ShardMoved } from "../sharding/shard-events.js"
import {
  ActivationBecame,
  ActorsLeftBehind,
  MessageStuck,
  TurnOverdue,
} from "../virtual/activation-events.js"
import type { EventSnapshot } from "./snapshot.js"

/** The latest events of this system as text, from when somebody begins to watch until nobody does. */
export class EventLog {
  readonly #recent = new Recent<EventSnapshot>(MOST_KEPT)
  readonly #subscriptions: readonly Subscription[]

  constructor(events: EventStream, clock: Clock) {
    const add = (event: object) => {
      const { name } = event.constructor
      const number = this.#recent.total + 1
      this.#recent.add({ number, at: clock.wallMs(), name, ...shown(event) })
    }
    this.#subscriptions = WATCHED.map((type) => events.subscribe(type, add))
  }

  get all(): readonly EventSnapshot[] {
    return this.#recent.all()
  }

  stop(): void {
    for (const subscription of this.#subscriptions) subscription.cancel()
  }
}

function shown(event: object): Pick<EventSnapshot, "about" | "text"> {
  const { id, member, node, actor, leader, at: _, ...rest } = event as Readonly<Record<string, unknown>>
  const subject = id ?? (member as Member | undefined)?.node ?? node ?? actor ?? leader
  const about = subject instanceof ActorId ? subject.name : subject === undefined ? "" : String(subject)
  const fields = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${textOf(value)}`],
  )
  return { about, text: fields.join(", ").slice(0, MOST_TEXT) }
}

function textOf(value: unknown): string {
  if (value instanceof Error) return messageOf(value)
  if (Array.isArray(value)) return value.slice(0, MOST_ELEMENTS).map(textOf).join(" ")
  return String(value)
}

const MOST_KEPT = 300
const MOST_TEXT = 300
const MOST_ELEMENTS = 8

/** Placement events are too many, and dead letters are among the troubles. */
const WATCHED: readonly EventClass<object>[] = [
  ActivationBecame,
  ActorAbandoned,
  ActorFailed,
  ActorsLeftBehind,
  AssociationConnected,
  AssociationFailed,
  AssociationLost,
  AssociationQuarantined,
  ConnectionRefused,
  InvalidAssociation,
  LeaderChanged,
  MemberDowned,
  MemberExiting,
  MemberJoining,
  MemberLeaving,
  MemberLeft,
  MemberRemoved,
  MemberUp,
  MessageStuck,
  NodeFenced,
  NodeRejoined,
  ReachableMember,
  ShardMoveAbandoned,
  ShardMoved,
  TurnOverdue,
  UnreachableMember,
]
