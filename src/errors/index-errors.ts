import { TroupeError } from "./troupe-error.js"

/**
 * Another actor has the value in a unique index. What the turn has changed is undone, and nothing is stored,
 * as after any error that a method throws.
 */
export class NotUniqueError extends TroupeError {
  readonly code = "NotUnique"
  /** The id of the actor whose change was refused. */
  readonly actor: string
  /** The type of the actor. */
  readonly type: string
  /** The name of the index. */
  readonly index: string

  constructor(actor: string, type: string, index: string) {
    super(`${actor} cannot have its value in the unique index ${type}.${index}, which another actor has`)
    this.actor = actor
    this.type = type
    this.index = index
  }
}
