import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"

/**
 * Which nodes were named for actors that are nowhere yet, until they are somewhere.
 *
 * A second message to the same actor may follow before the first has made it start. It has to take the same way, or it may be
 * claimed for elsewhere and overtake the first; but a strategy that draws by chance, or one that sees a new member in between, names
 * another node. So what was named stays named as long as nothing newer is known of the placement.
 *
 * The room is limited. When the younger half is full the older one is let go, which takes no bookkeeping for each entry; a name
 * that is forgotten too soon costs at worst such an overtaking, within the time that an actor takes to start.
 */
export class NamedAuthorities {
  readonly #halfLimit: number
  #young = new Map<string, Named>()
  #old = new Map<string, Named>()

  constructor(limit: number) {
    this.#halfLimit = Math.max(1, Math.floor(limit / 2))
  }

  /** `since` is the revision at which nothing live was placed. */
  add(id: string, node: NodeId, since: Revision): void {
    if (this.#young.size >= this.#halfLimit) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#old.delete(id)
    this.#young.set(id, { node, since })
  }

  /** Undefined where something newer is known of the placement. */
  of(id: string, since: Revision): NodeId | undefined {
    const named = this.#young.get(id) ?? this.#old.get(id)
    return named === undefined || named.since < since ? undefined : named.node
  }

  forget(id: string): void {
    this.#young.delete(id)
    this.#old.delete(id)
  }

  /** The oldest first. */
  list(): readonly { readonly id: string; readonly node: NodeId }[] {
    return [...this.#old, ...this.#young].map(([id, { node }]) => ({ id, node }))
  }
}

interface Named {
  readonly node: NodeId
  readonly since: Revision
}
