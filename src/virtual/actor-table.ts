import type { Tenure } from "../registry/tenure.js"
import type { Activation } from "./activation.js"
import type { Route } from "./call-router.js"

/**
 * All that this node has in hand for actors, under their names. Whether a call is on its way to an actor,
 * whether the actor is being started here, and whether it runs here, is in one entry: each part of the node
 * has its own slot in it, and an entry is in the table for as long as one of its slots is taken.
 */
export class ActorTable {
  readonly #entries = new Map<string, ActorEntry>()

  get(name: string): ActorEntry | undefined {
    return this.#entries.get(name)
  }

  /** The entry of the actor, made if there is none; a slot of it must be taken next. */
  at(name: string): ActorEntry {
    const known = this.#entries.get(name)
    if (known !== undefined) return known
    const entry = new ActorEntry(name)
    this.#entries.set(name, entry)
    return entry
  }

  /** Removes the entry once no slot of it is taken. */
  prune(entry: ActorEntry): void {
    const { route, start, activation, name } = entry
    if (route === undefined && start === undefined && activation === undefined) this.#entries.delete(name)
  }

  get entries(): IterableIterator<ActorEntry> {
    return this.#entries.values()
  }
}

/** What this node has in hand for one actor. There may be a million of these. */
export class ActorEntry {
  readonly name: string
  /** The calls of this node to the actor, while it is resolved or called elsewhere. */
  route: Route | undefined = undefined
  /** The start of the actor on this node, from its claim on. */
  start: ActorStart | undefined = undefined
  /** The activation of this node, from its creation until it is invalid. */
  activation: Activation | undefined = undefined

  constructor(name: string) {
    this.name = name
  }
}

/** An actor that was claimed for this node, and whose activation is not valid yet. */
interface ActorStart {
  readonly tenure: Tenure
  /** The activation that could not be started, while its callers have yet to be told. */
  failed: Activation | undefined
}
