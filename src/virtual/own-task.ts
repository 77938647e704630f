import type { ActorId } from "../address/actor-id.js"
import type { Invocation } from "./invocation.js"

/** The task of a timer or of a watch, queued as a message of the actor to itself. */
export class OwnTask implements Invocation {
  readonly kind: OwnTaskKind
  readonly id: ActorId
  readonly key: string
  readonly method = ""
  readonly args: readonly unknown[] = NONE
  readonly isOneWay = true
  readonly isBackground = true
  readonly chain: readonly string[] = NONE
  readonly trace = undefined
  readonly operation = undefined
  /** Whether the task was cancelled. */
  isOver = false
  readonly run: () => unknown
  readonly #owner: TaskOwner
  readonly #onEnd: (() => void) | undefined

  constructor(owner: TaskOwner, kind: OwnTaskKind, run: () => unknown, onEnd?: () => void) {
    this.kind = kind
    this.id = owner.id
    this.key = owner.key
    this.run = run
    this.#owner = owner
    this.#onEnd = onEnd
  }

  begun(): void {}

  succeed(): void {
    this.#onEnd?.()
  }

  fail(error: Error): void {
    this.#owner.taskFailed(this.kind, error)
    this.#onEnd?.()
  }
}

export type OwnTaskKind = "timer" | "watch"

const NONE: readonly never[] = []

/** The activation that timers and watches belong to. */
export interface TaskOwner {
  readonly id: ActorId
  readonly key: string
  /** Whether the activation has ended. Timers and watches that are set from then on never begin. */
  readonly isInvalid: boolean
  /** Queues the task behind the waiting messages; an activation that is ending ignores it. */
  enqueueOwn(task: OwnTask): void
  taskFailed(kind: OwnTaskKind, error: Error): void
}
