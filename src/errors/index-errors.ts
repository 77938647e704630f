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

/**
 * The index does not have all actors of its type yet: it is new or has changed, and is being built; or nodes
 * with other indexes host the type, as they do during a deployment. Ask again later, or with
 * `{ partial: true }`.
 */
export class IndexBuildingError extends TroupeError {
  readonly code = "IndexBuilding"
  /** The type of the actors. */
  readonly type: string
  /** The name of the index. */
  readonly index: string
  /** How far it is; undefined if it was not begun. */
  readonly progress: IndexProgress | undefined

  constructor(type: string, index: string, because: string, progress?: IndexProgress) {
    super(`the index ${type}.${index} is not complete: ${because}`)
    this.type = type
    this.index = index
    this.progress = progress
  }
}

/** How far the building of the indexes of a type is. */
export interface IndexProgress {
  /** The number of actors that were looked at. */
  readonly seen: number
  /** The number of actors among them that were built in. */
  readonly built: number
  /** The number of actors whose value in a unique index another actor has. */
  readonly collisions: number
  /** The first of these, at most 100. */
  readonly collided: readonly { readonly index: string; readonly key: string }[]
}
