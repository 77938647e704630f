import type { Tenure } from "../registry/tenure.js"
import type { Activation } from "./activation.js"
import type { Route } from "./call-router.js"

/**
 * The actors that this node calls, starts or runs, by name. One entry per actor holds the calls that are
 * routed to it, its start on this node, and its activation on this node. Each of these is a slot that one
 * part of the node owns, and an entry is in the table as long as one of its slots is set.
 */
export class ActorTable {
  readonly #entries = new Map<string, ActorEntry>()

  get(name: string): ActorEntry | undefined {
    return this.#entries.get(name)
  }

  /**
   * Returns the entry of the actor, and adds it if there is none. The caller must then set one of its slots.
   */
  at(name: string): ActorEntry {
    const known = this.#entries.get(name)
    if (known !== undefined) return known
    const entry = new ActorEntry(name)
    this.#entries.set(name, entry)
    return entry
  }

  /** Removes the entry if none of its slots is set. */
  prune(entry: ActorEntry): void {
    const { route, start, activation, name } = entry
    if (route === undefined && start === undefined && activation === undefined) this.#entries.delete(name)
  }

  get entries(): IterableIterator<ActorEntry> {
    return this.#entries.values()
  }
}

/** The entry of one actor. A node may have a million of these. */
export class ActorEntry {
  readonly name: string
  /** The calls of this node to the actor, while the actor is being resolved or is on another node. */
  route: Route | undefined = undefined
  /** The start of the actor on this node, from the claim until it is valid or released. */
  start: ActorStart | undefined = undefined
  /** The activation on this node, from its creation until it is invalid. */
  activation: Activation | undefined = undefined

  constructor(name: string) {
    this.name = name
  }
}

/** The start of an actor that this node has claimed and whose activation is not valid yet. */
interface ActorStart {
  readonly tenure: Tenure
  /** The activation whose start failed, until its callers have been notified. */
  failed: Activation | undefined
}
