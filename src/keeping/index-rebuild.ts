import type { IndexWalk } from "../virtual/index-record.js"

/**
 * Builds the actors of one type into its indexes: a decision.
 *
 * The states of the type are walked in the order of their keys, page by page. Each actor whose head does not
 * say that it is in all indexes is called, and enters itself with a commit of its own: nobody else could
 * write the entries of an actor that may be running. The cursor and what was counted are recorded after each
 * page, so that the walk goes on after its keeper has died.
 *
 *     listing --> building (8 at a time) --> recording --> pausing --> listing ...
 *                                                    \--> the last page: completing, if all are entered
 *                                                     \-> otherwise waiting, and the walk begins again
 *
 * Actors that start while the walk is on enter themselves, as all hosts declare the indexes; so a walk that
 * has found all actors entered, or has built them in, has seen every actor that needed it.
 *
 * A value of a unique index may be taken: two actors had it before there was the index. This is counted and
 * told, and the index stays incomplete; each further walk tries again, as one of the two may have changed.
 *
 * A walk for each index would be simpler to restart, and would read all states of the type once for each.
 */
export class IndexRebuild {
  readonly #declared: readonly string[]
  #walk: IndexWalk
  /** What the walk before this one has found taken. */
  #before: Pick<IndexWalk, "collisions" | "collided"> = NONE_TAKEN
  /** The keys of the page that are not being built. */
  #waiting: string[] = []
  #inFlight = 0
  /** The number of actors of the page that were called. */
  #called = 0
  #page: { readonly last: string; readonly more: boolean } | undefined

  constructor(declared: readonly string[], resumed?: IndexWalk) {
    this.#declared = declared
    this.#walk = resumed ?? beginning(declared)
  }

  /** How far it is, for the record. */
  get walk(): IndexWalk {
    const isLess = this.#walk.collisions < this.#before.collisions
    return isLess ? { ...this.#walk, ...this.#before } : this.#walk
  }

  begin(): readonly RebuildCommand[] {
    if (this.#walk.after === "") {
      const { collisions, collided } = this.#walk
      this.#before = { collisions, collided }
      this.#walk = beginning(this.#declared)
    }
    return [{ kind: "list", after: this.#walk.after }]
  }

  handle(event: RebuildEvent): readonly RebuildCommand[] {
    switch (event.kind) {
      case "listed":
        return this.#listed(event)
      case "built":
        return this.#built(event)
      case "failed":
        this.#walk = { ...this.#walk, isClean: false }
        return this.#answered()
      case "recorded":
        return this.#recorded()
      case "waited":
        return this.begin()
    }
  }

  #listed({ keys, old, more }: RebuildEvent & { readonly kind: "listed" }): readonly RebuildCommand[] {
    this.#page = { last: keys.at(-1) ?? this.#walk.after, more }
    this.#walk = { ...this.#walk, seen: this.#walk.seen + keys.length }
    this.#waiting = [...old]
    this.#called = old.length
    return old.length === 0 ? this.#pageEnded() : this.#build()
  }

  #build(): readonly RebuildCommand[] {
    const next = this.#waiting.splice(0, MOST_IN_FLIGHT - this.#inFlight)
    this.#inFlight += next.length
    return next.map((key) => ({ kind: "build", key }))
  }

  #built({ key, taken }: RebuildEvent & { readonly kind: "built" }): readonly RebuildCommand[] {
    const { built, collisions, collided, isClean } = this.#walk
    const listed = [...collided, ...taken.map((index) => ({ index, key }))].slice(0, MOST_LISTED)
    this.#walk = {
      ...this.#walk,
      isClean: isClean && taken.length === 0,
      built: built + (taken.length === 0 ? 1 : 0),
      collisions: collisions + taken.length,
      collided: listed,
    }
    return this.#answered()
  }

  #answered(): readonly RebuildCommand[] {
    this.#inFlight -= 1
    if (this.#waiting.length > 0) return this.#build()
    return this.#inFlight === 0 ? this.#pageEnded() : []
  }

  #pageEnded(): readonly RebuildCommand[] {
    const { last, more } = this.#page as { readonly last: string; readonly more: boolean }
    if (!more && this.#walk.isClean) return [{ kind: "complete" }]
    this.#walk = more ? { ...this.#walk, after: last } : { ...this.#walk, after: "", isClean: true }
    return [{ kind: "record" }]
  }

  #recorded(): readonly RebuildCommand[] {
    if (this.#page?.more !== true) return [{ kind: "wait", ms: AGAIN_MS }]
    return this.#called === 0 ? this.begin() : [{ kind: "wait", ms: this.#called * PAUSE_MS }]
  }
}

export type RebuildEvent =
  /** A page of states: the keys of all, and of those that are not in all indexes. */
  | {
      readonly kind: "listed"
      readonly keys: readonly string[]
      readonly old: readonly string[]
      readonly more: boolean
    }
  /** An actor is entered, except in the indexes in which its value is taken. */
  | { readonly kind: "built"; readonly key: string; readonly taken: readonly string[] }
  | { readonly kind: "failed"; readonly key: string }
  | { readonly kind: "recorded" }
  | { readonly kind: "waited" }

export type RebuildCommand =
  | { readonly kind: "list"; readonly after: string }
  | { readonly kind: "build"; readonly key: string }
  /** Write how far the walk is. */
  | { readonly kind: "record" }
  /** All actors are in the indexes: say so, if all hosts still declare them. */
  | { readonly kind: "complete" }
  | { readonly kind: "wait"; readonly ms: number }

function beginning(declared: readonly string[]): IndexWalk {
  return { declared, after: "", isClean: true, seen: 0, built: 0, ...NONE_TAKEN }
}

const NONE_TAKEN = { collisions: 0, collided: [] }
const MOST_IN_FLIGHT = 8
const MOST_LISTED = 100
/** For each actor that was called: at most 500 in a second. */
const PAUSE_MS = 2
/** What was taken or has failed is tried again after this time. */
const AGAIN_MS = 5_000
