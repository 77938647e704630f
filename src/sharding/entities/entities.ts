/**
 * The decision about the entities of one type on one node: which run, and which messages wait for one that
 * does not.
 *
 *     absent --message--> starting --started--> running --passivate, drain--> ending --ended--> absent
 *                            |                                                          |
 *                            +--failed--> absent                    starting again, if messages wait
 *
 * An entity that ends handles the messages that it has, and those that come later wait for its next
 * incarnation, which starts only after the last one is over, its hooks included. So at most one incarnation
 * runs on a node, whatever happens to its shard meanwhile.
 *
 * A draining shard gets no new messages, but some may wait here. They are older than what regions hold back,
 * so they are not passed on: their entities start once more, handle them, and end.
 *
 * A shard is aborted when its node has lost it, or gives it up as it stops. An entity that is starting then
 * is not created once its state is loaded, and one that is ending is not saved once it has ended: the next
 * incarnation may run elsewhere by then. A `save` that has begun cannot be taken back.
 */
export class Entities<M> {
  readonly #capacity: number
  readonly #entries = new Map<string, EntityEntry<M>>()
  /** The number of entities of each shard that has any. */
  readonly #perShard = new Map<number, number>()
  readonly #draining = new Set<number>()
  #waiting = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#entries.size
  }

  /** The entities, in the order in which they came. */
  get entries(): Iterable<EntityEntry<M>> {
    return this.#entries.values()
  }

  find(id: string): EntityEntry<M> | undefined {
    return this.#entries.get(id)
  }

  /**
   * A message has come for an entity that is not running: `start` it, or let the message `wait`, or refuse it
   * because the buffer is `full`.
   */
  receive(shard: number, id: string, message: M): "start" | "wait" | "full" {
    if (this.#waiting >= this.#capacity) return "full"
    const known = this.#entries.get(id)
    const entry = known ?? this.#add(shard, id)
    entry.waiting.add(message)
    this.#waiting += 1
    return known === undefined ? "start" : "wait"
  }

  /** Adds an entity that no message needs. False if it is there. */
  remember(shard: number, id: string): boolean {
    if (this.#entries.has(id)) return false
    this.#add(shard, id)
    return true
  }

  /** Says whether the message was waiting. */
  withdraw(id: string, message: M): boolean {
    const isGone = this.#entries.get(id)?.waiting.delete(message) === true
    if (isGone) this.#waiting -= 1
    return isGone
  }

  /** The entity runs: returns the messages that have waited, and whether it must end after them. */
  started(id: string): { readonly messages: readonly M[]; readonly mustEnd: boolean } {
    const entry = this.#entries.get(id) as EntityEntry<M>
    entry.state = "running"
    const mustEnd = this.#draining.has(entry.shard)
    if (mustEnd) entry.state = "ending"
    return { messages: this.#take(entry), mustEnd }
  }

  /** Says whether the entity runs, and ends from now on. */
  end(id: string): boolean {
    const entry = this.#entries.get(id)
    if (entry?.state !== "running") return false
    entry.state = "ending"
    return true
  }

  /**
   * The entity could not start. Returns the messages that have waited for it, and its shard if that is
   * drained now.
   */
  failed(id: string): { readonly messages: readonly M[]; readonly drained: number | undefined } {
    const entry = this.#entries.get(id) as EntityEntry<M>
    const messages = this.#take(entry)
    return { messages, drained: this.#remove(entry) }
  }

  /** The entity is over. It starts again if messages wait for it; otherwise its shard may be drained now. */
  ended(id: string): { readonly startsAgain: boolean; readonly drained: number | undefined } {
    const entry = this.#entries.get(id) as EntityEntry<M>
    if (entry.waiting.size === 0) return { startsAgain: false, drained: this.#remove(entry) }
    entry.state = "starting"
    entry.isAborted = false
    return { startsAgain: true, drained: undefined }
  }

  /** Returns the entities of the shard that have to end now; undefined if the shard has none at all. */
  drain(shard: number): readonly string[] | undefined {
    this.#draining.add(shard)
    if (!this.#perShard.has(shard)) return undefined
    const running = [...this.#entries.values()].filter(
      (entry) => entry.shard === shard && entry.state === "running",
    )
    for (const entry of running) entry.state = "ending"
    return running.map(({ id }) => id)
  }

  reopen(shard: number): void {
    this.#draining.delete(shard)
  }

  /** Takes all messages that wait for entities of a shard, and returns its entities that run. */
  abort(shard: number): { readonly messages: readonly M[]; readonly running: readonly string[] } {
    this.#draining.delete(shard)
    const entries = [...this.#entries.values()].filter((entry) => entry.shard === shard)
    const running = entries.filter(({ state }) => state !== "starting")
    const messages = entries.flatMap((entry) => this.#take(entry))
    for (const entry of entries) entry.isAborted = true
    return { messages, running: running.map(({ id }) => id) }
  }

  #add(shard: number, id: string): EntityEntry<M> {
    const entry: EntityEntry<M> = { id, shard, state: "starting", isAborted: false, waiting: new Set() }
    this.#entries.set(id, entry)
    this.#perShard.set(shard, (this.#perShard.get(shard) ?? 0) + 1)
    return entry
  }

  #remove({ id, shard }: EntityEntry<M>): number | undefined {
    this.#entries.delete(id)
    const left = (this.#perShard.get(shard) as number) - 1
    if (left > 0) this.#perShard.set(shard, left)
    else this.#perShard.delete(shard)
    return left === 0 && this.#draining.has(shard) ? shard : undefined
  }

  #take(entry: EntityEntry<M>): readonly M[] {
    const messages = [...entry.waiting]
    entry.waiting.clear()
    this.#waiting -= messages.length
    return messages
  }
}

export interface EntityEntry<M> {
  readonly id: string
  readonly shard: number
  state: "starting" | "running" | "ending"
  /** Whether its node has lost its shard while it was there. */
  isAborted: boolean
  /** The messages for the next incarnation, in order. */
  readonly waiting: Set<M>
}
