import type { Registration } from "./registration.js"
import type { Tenure } from "./tenure.js"

/**
 * The actors that this node holds, by name: one entry for each. The registry keeps the actor's tenure in it;
 * the parts of a node that call, start and run actors add slots of their own, and so find with one lookup all
 * that this node knows of an actor. Each slot has one owner, and an entry is in the table as long as one of
 * its slots is set.
 */
export class ActorTable<Entry extends HeldActor = HeldActor> {
  readonly #entries = new Map<string, Entry>()
  readonly #type: new (
    name: string,
  ) => Entry

  constructor(type: new (name: string) => Entry) {
    this.#type = type
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name)
  }

  /**
   * Returns the entry of the actor, and adds it if there is none. The caller must then set one of its slots.
   */
  at(name: string): Entry {
    const known = this.#entries.get(name)
    if (known !== undefined) return known
    const entry = new this.#type(name)
    this.#entries.set(name, entry)
    return entry
  }

  /** Removes the entry if none of its slots is set. */
  prune(entry: Entry): void {
    if (entry.isEmpty) this.#entries.delete(entry.name)
  }

  get entries(): IterableIterator<Entry> {
    return this.#entries.values()
  }
}

/** The entry of an actor in the table. A node may have a million of these. */
export class HeldActor {
  readonly name: string
  /** The tenure under which this node has the actor, or its claim in flight. */
  held: Tenure | Promise<Registration> | undefined = undefined

  constructor(name: string) {
    this.name = name
  }

  get isEmpty(): boolean {
    return this.held === undefined
  }
}
