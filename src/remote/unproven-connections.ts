/**
 * The incoming connections whose peer has not proven its identity: a decision about how many there may be,
 * and which one to drop beyond the limit.
 *
 * A flood of connections must neither exhaust memory nor lock out honest nodes, which may also be many: a
 * whole cluster dials a node that comes back. So there is one limit for all unproven connections, TLS
 * handshakes included. Beyond it the source address with the most of them loses its oldest, so that an
 * attacker with few addresses evicts itself. A connection that has sent a HELLO with a valid tag is not
 * evicted for this; if all have, new connections wait unread until there is room. Evicting the oldest of
 * all would be simpler, and favour the attacker: the oldest is the closest to the end of its handshake.
 *
 * Anybody can replay a recorded HELLO. So of two connections with the same HELLO at one time only the first
 * counts as tagged; and a source that holds more than half of all places by tagged connections is the
 * busiest in any case, and loses tagged connections too.
 */
export class UnprovenConnections<S> {
  readonly #most: number
  /** The connections without a valid HELLO, by source, oldest first. */
  readonly #untagged = new Map<string, Set<S>>()
  /** The connections that have sent a HELLO with a valid tag, by source, oldest first. */
  readonly #tagged = new Map<string, Set<S>>()
  /** The nonces of their HELLOs, all different. */
  readonly #nonces = new Map<S, string>()
  readonly #noncesHere = new Set<string>()
  /** The sources of all admitted connections. */
  readonly #sources = new Map<S, string>()
  readonly #held = new Map<S, string>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#sources.size + this.#held.size
  }

  has(connection: S): boolean {
    return this.#sources.has(connection) || this.#held.has(connection)
  }

  arrived(connection: S, host: string): readonly UnprovenCommand<S>[] {
    const source = sourceOf(host)
    if (this.#sources.size < this.#most) return [this.#admit(connection, source)]
    const evicted = this.#toEvict(source)
    if (evicted !== undefined) {
      this.#forget(evicted)
      return [{ kind: "drop", connection: evicted }, this.#admit(connection, source)]
    }
    if (this.#held.size >= this.#most) return [{ kind: "drop", connection }]
    this.#held.set(connection, source)
    return []
  }

  /** Marks a connection whose HELLO has a valid tag. False if another connection has sent the same HELLO. */
  admitHello(connection: S, nonce: string): boolean {
    if (this.#noncesHere.has(nonce)) return false
    const source = this.#sources.get(connection)
    if (source === undefined) return true
    remove(this.#untagged, source, connection)
    add(this.#tagged, source, connection)
    this.#nonces.set(connection, nonce)
    this.#noncesHere.add(nonce)
    return true
  }

  /** Called when the peer has proven its identity, or the connection has closed. */
  left(connection: S): readonly UnprovenCommand<S>[] {
    this.#held.delete(connection)
    this.#forget(connection)
    const [next] = this.#held
    if (next === undefined || this.#sources.size >= this.#most) return []
    this.#held.delete(next[0])
    return [this.#admit(...next)]
  }

  #admit(connection: S, source: string): UnprovenCommand<S> {
    this.#sources.set(connection, source)
    add(this.#untagged, source, connection)
    return { kind: "admit", connection }
  }

  #toEvict(newSource: string): S | undefined {
    const greedy = this.#greedy()
    if (greedy === undefined) return this.#oldestOfBusiest(newSource)
    const untagged = oldest(this.#untagged.get(greedy))
    // A new connection from the greedy source itself replaces an untagged one of it, and no other.
    return untagged ?? (greedy === newSource ? undefined : oldest(this.#tagged.get(greedy)))
  }

  /** The source that holds more than half of all places by tagged connections. */
  #greedy(): string | undefined {
    for (const [source, tagged] of this.#tagged) if (tagged.size > this.#most / 2) return source
    return undefined
  }

  /**
   * Finds the oldest untagged connection of the busiest source, with the new one counted; ties go to the
   * first.
   */
  #oldestOfBusiest(newSource: string): S | undefined {
    let busiest: Set<S> | undefined
    let most = 0
    for (const [source, untagged] of this.#untagged) {
      const count = untagged.size + (source === newSource ? 1 : 0)
      if (count > most) {
        busiest = untagged
        most = count
      }
    }
    return oldest(busiest)
  }

  #forget(connection: S): void {
    const source = this.#sources.get(connection)
    if (source === undefined) return
    this.#sources.delete(connection)
    remove(this.#untagged, source, connection)
    remove(this.#tagged, source, connection)
    this.#noncesHere.delete(this.#nonces.get(connection) ?? "")
    this.#nonces.delete(connection)
  }
}

export type UnprovenCommand<S> =
  /** Begins the handshake, or continues it. */
  { readonly kind: "admit"; readonly connection: S } | { readonly kind: "drop"; readonly connection: S }

/**
 * Returns what counts as one source address: of IPv6 the first half, since a host chooses the second half
 * freely.
 */
export function sourceOf(host: string): string {
  if (!host.includes(":") || host.startsWith("::ffff:")) return host
  const [head = "", tail] = host.split("::")
  const groups = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  while (tail !== undefined && groups.length + after.length < 8) groups.push("0")
  return [...groups, ...after].slice(0, 4).join(":")
}

function oldest<S>(of: ReadonlySet<S> | undefined): S | undefined {
  return of?.values().next().value
}

function add<S>(to: Map<string, Set<S>>, source: string, connection: S): void {
  const there = to.get(source)
  if (there === undefined) to.set(source, new Set([connection]))
  else there.add(connection)
}

function remove<S>(from: Map<string, Set<S>>, source: string, connection: S): void {
  const there = from.get(source)
  there?.delete(connection)
  if (there?.size === 0) from.delete(source)
}
