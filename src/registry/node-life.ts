import type { NodeId } from "../address/node-id.js"
import { assert } from "../errors/assert.js"

/**
 * The phase of this node's life in the cluster: a decision, and the value that the registry publishes.
 *
 *     joining ---> member ---> leaving ---> stopped
 *        ^           |            ^
 *        |           v            |
 *        +-------- fenced         |
 *        +------------------------+
 *
 * - `joining`: the node tries to join, each time under another node id; at its start, and after each fence.
 * - `member`: the store has confirmed the join. Only a member claims actors.
 * - `fenced`: the incarnation has lost its lease or its record, by the word of its `NodeLease`, and all that
 *   was claimed in it has ended. The registry goes on to `joining` at once.
 * - `leaving`: the system was asked to stop, in whichever phase. The node takes nothing new, and never joins
 *   again. A leaving node that is fenced stays `leaving`, without a lease; one whose join was in flight may
 *   still get a lease, to give it up.
 * - `stopped`: nothing begins on this node. Its lease is given up, or left to run out.
 *
 * `NodeLifecycle` alone causes these changes, and publishes each as another value with a higher version. All
 * others read the value and keep no flag of their own: a stop, a fence and a join that overlap would be seen
 * in a different order by each. Every other change is a bug, and throws.
 *
 * The value says what was decided, not whether the node may act now: the deadline of a lease passes while
 * nothing runs, so `Incarnation.mayAct` compares it with the clock each time.
 */
export class NodeLife {
  /** Grows with every change. */
  readonly version: number
  readonly phase: LifePhase
  /** The node id of this incarnation, or of the one that the node tries to begin. */
  readonly node: NodeId
  /** The epoch of the store in which the node holds its lease; undefined while it holds none. */
  readonly epoch: string | undefined
  /** How often this process has joined. */
  readonly joins: number
  /** Why the node is in this phase. */
  readonly because: string
  /** The error that led to a fence, if there is one: what kept the node from renewing its lease. */
  readonly cause: Error | undefined

  /** The life of a node that has just started, with the id that it tries to join with. */
  static begin(node: NodeId): NodeLife {
    return new NodeLife({
      version: 1,
      phase: "joining",
      node,
      epoch: undefined,
      joins: 0,
      because: "the node has started",
      cause: undefined,
    })
  }

  private constructor({ version, phase, node, epoch, joins, because, cause }: LifeFields) {
    this.version = version
    this.phase = phase
    this.node = node
    this.epoch = epoch
    this.joins = joins
    this.because = because
    this.cause = cause
  }

  /** Whether the node has joined, and was not fenced since. */
  get hasLease(): boolean {
    return this.epoch !== undefined
  }

  /** Whether the node was asked to stop: it never joins again. */
  get isEnding(): boolean {
    return this.phase === "leaving" || this.phase === "stopped"
  }

  /** The life after the event. Throws where the event cannot happen in this phase. */
  after(event: LifeEvent): NodeLife {
    const { phase, hasLease } = this
    const isLeaving = phase === "leaving"
    switch (event.kind) {
      case "join-begun":
        assert(phase === "joining" || phase === "fenced", "a join begins only while joining or fenced")
        return this.#next({ phase: "joining", node: event.node, because: event.because })
      case "joined": {
        assert(phase === "joining" || (isLeaving && !hasLease), "a join was confirmed that was not begun")
        const joined = { epoch: event.epoch, joins: this.joins + 1 }
        if (isLeaving) return this.#next(joined)
        return this.#next({ ...joined, phase: "member", because: "the store confirmed the join" })
      }
      case "fenced": {
        assert(hasLease, "a node was fenced that held no lease")
        const { because, cause } = event
        return this.#next({ phase: isLeaving ? "leaving" : "fenced", epoch: undefined, because, cause })
      }
      case "asked-to-leave":
        assert(!this.isEnding, "a node was asked to leave twice")
        return this.#next({ phase: "leaving", because: "the node was asked to leave" })
      case "stopped":
        assert(isLeaving, "a node stopped that was not leaving")
        return this.#next({ phase: "stopped", epoch: undefined, because: "the node was stopped" })
    }
  }

  #next(change: Partial<LifeFields>): NodeLife {
    return new NodeLife({ ...this, cause: undefined, ...change, version: this.version + 1 })
  }
}

type LifePhase = "joining" | "member" | "leaving" | "fenced" | "stopped"

export type LifeEvent =
  /** The node tries to join under this id: after a fence, or after an attempt that was not confirmed. */
  | { readonly kind: "join-begun"; readonly node: NodeId; readonly because: string }
  /** The store has confirmed the join, in this epoch. */
  | { readonly kind: "joined"; readonly epoch: string }
  /** The incarnation has lost its right to act, for good. */
  | { readonly kind: "fenced"; readonly because: string; readonly cause: Error | undefined }
  /** The system begins to stop. */
  | { readonly kind: "asked-to-leave" }
  /** The system has ended its actors, or gives up waiting for them. */
  | { readonly kind: "stopped" }

interface LifeFields {
  readonly version: number
  readonly phase: LifePhase
  readonly node: NodeId
  readonly epoch: string | undefined
  readonly joins: number
  readonly because: string
  readonly cause: Error | undefined
}
