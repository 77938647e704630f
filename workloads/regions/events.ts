/** An incarnation of an entity has started. */
export interface EntityStarted {
  readonly kind: "entity-started"
  readonly entity: string
  /** The process, of which no two of a run have the same name. */
  readonly life: string
  /** The node id of the process at that time. */
  readonly node: string
  /** Counts the incarnations of a run. */
  readonly number: number
}

/** An incarnation has handled its last turn. */
export interface EntityEnded {
  readonly kind: "entity-ended"
  readonly entity: string
  readonly number: number
}

/** An entity handles a message. */
export interface MessageHandled {
  readonly kind: "message-handled"
  readonly entity: string
  /** The node that it runs on. */
  readonly node: string
  /** Who has sent it, of which no two of a run have the same name. */
  readonly sender: string
  /** Counts the messages of this sender to this entity. */
  readonly place: number
}

export type RegionEvent = EntityStarted | EntityEnded | MessageHandled
