/** What the players of the remoting workload tell its invariants. A player is one life of one system. */
export type RemotingEvent =
  | { readonly kind: "born"; readonly player: string; readonly machine: string }
  /** The incarnation that a player goes by from now on; it may take another without being born again. */
  | { readonly kind: "incarnated"; readonly player: string; readonly node: string }
  /** A player is connected with this incarnation of the node on a machine. */
  | { readonly kind: "met"; readonly player: string; readonly machine: string; readonly node: string }
  /**
   * Of connections with a host: there is one more, the network takes no more from it, takes more again, it is
   * over.
   */
  | {
      readonly kind: "opened" | "blocked" | "drained" | "closed"
      readonly player: string
      readonly host: string
    }
  | Told
  | Arrived
  | Handled
  /** A note is in the dead letters of a player, either its sender or its receiver. */
  | {
      readonly kind: "dead"
      readonly player: string
      readonly chain: string
      readonly seq: number
      /** It came, and there was no room for it. */
      readonly refused: boolean
    }
  | { readonly kind: "asked"; readonly player: string; readonly id: string }
  | { readonly kind: "question-handled"; readonly id: string }
  | {
      readonly kind: "ended"
      readonly player: string
      readonly id: string
      readonly outcome: "answered" | "not-delivered" | "unknown"
    }
  | { readonly kind: "spawned" | "stopped"; readonly player: string; readonly uid: number }
  | Watched
  | { readonly kind: "terminated"; readonly watch: string; readonly cause: string }
  /** It is not to be told any more. */
  | { readonly kind: "unwatched"; readonly watch: string }
  /** A system has stopped; nothing of it may be in flight. */
  | { readonly kind: "left"; readonly player: string }
  /** All is over, and this player is among those that are left. */
  | { readonly kind: "judged"; readonly player: string }

export interface Told {
  readonly kind: "told"
  readonly player: string
  /** Of the receiver. */
  readonly host: string
  readonly chain: string
  readonly seq: number
  readonly hash: number
  /** There was no connection: it waits for the next one. */
  readonly deferred: boolean
  /** The faults are over, and what they broke is mended: it must arrive. */
  readonly settled: boolean
}

export interface Arrived {
  readonly kind: "arrived"
  readonly player: string
  readonly chain: string
  readonly seq: number
  /** By which of the player's connections. */
  readonly connection: number
}

export interface Handled {
  readonly kind: "handled"
  readonly player: string
  readonly chain: string
  readonly seq: number
  readonly hash: number
}

export interface Watched {
  readonly kind: "watched"
  readonly player: string
  readonly watch: string
  /** The machine of the watched actor. */
  readonly machine: string
  /** 0 where it is known by name only. */
  readonly uid: number
}
