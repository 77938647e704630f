import { Recent } from "../actor/recent.js"
import type { ActorId } from "../address/actor-id.js"
import { messageOf } from "../errors/thrown.js"
import type { Clock, WallMs } from "../ports/clock.js"
import { codeOf } from "./error-counts.js"

/**
 * The latest troubles of the actors of this node, for people to look at. Each kind has a list of its own, so
 * that many of one kind push out none of another.
 */
export class ActorTroubles {
  readonly failedTurns = new Recent<ActorTrouble>(MOST_KEPT)
  readonly overdueTurns = new Recent<ActorTrouble>(MOST_KEPT)
  readonly failedStarts = new Recent<ActorTrouble>(MOST_KEPT)
  readonly stuckMessages = new Recent<ActorTrouble>(MOST_KEPT)
  readonly lateReminders = new Recent<ActorTrouble>(MOST_KEPT)
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  turnFailed(id: ActorId, method: string, error: unknown): void {
    this.failedTurns.add({ ...this.#failure(id, error), method })
  }

  turnOverdue(id: ActorId, method: string, chain: readonly string[]): void {
    const text = "its turn has exceeded the timeout of the method"
    this.overdueTurns.add({ ...this.#about(id), method, text, chain })
  }

  startFailed(id: ActorId, error: unknown): void {
    this.failedStarts.add(this.#failure(id, error))
  }

  messageStuck(id: ActorId, target: ActorId, method: string, error: unknown): void {
    const { code, text } = this.#failure(id, error)
    const shown = `its message to ${target.name} cannot be delivered: ${text}`.slice(0, MOST_TEXT)
    this.stuckMessages.add({ ...this.#about(id), method, code, text: shown })
  }

  /** Notes a reminder that fires now, if that is much later than it should have. */
  reminderFired(id: ActorId, name: string, at: WallMs): void {
    const lateMs = this.#clock.wallMs() - at
    if (lateMs < LATE_MS) return
    const text = `its reminder ${name} fired ${Math.round(lateMs / 1_000)} s late`
    this.lateReminders.add({ ...this.#about(id), text })
  }

  #about(id: ActorId): Pick<ActorTrouble, "at" | "actor"> {
    return { at: this.#clock.wallMs(), actor: id.name }
  }

  #failure(id: ActorId, error: unknown) {
    return { ...this.#about(id), code: codeOf(error), text: messageOf(error).slice(0, MOST_TEXT) }
  }
}

export interface ActorTrouble {
  readonly at: WallMs
  /** The name of the actor, `type/key`. */
  readonly actor: string
  readonly method?: string
  readonly code?: string
  readonly text: string
  /** The actors that wait for the turn, then the turn itself. */
  readonly chain?: readonly string[]
}

const MOST_KEPT = 50
const MOST_TEXT = 400
/** A keeper that takes over after a lost node is late by some seconds. */
const LATE_MS = 10_000
