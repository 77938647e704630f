/**
 * Those who have connected and not yet proven who they are: a decision about how many there may be, and who
 * goes when there are more.
 *
 * A flood of connections must neither fill the memory nor lock honest nodes out, and honest nodes may come in
 * numbers too: all of a cluster dial a node that comes back. So there is one limit for all who are unproven,
 * TLS handshakes included. Past it the source address that has the most of them loses its oldest: an attacker
 * with few addresses crowds out itself. Whoever has said what only a node of the cluster says is not sent
 * away for this; if there are no others, newcomers are held back, unread, until there is room. To send away
 * the oldest of all would be simpler, and favour the attacker: that is the one nearest to the end of its
 * handshake.
 *
 * A HELLO that was recorded can be said again by anybody. So one that is said twice at a time is good for the
 * first alone, and a source that has more than half of all places by such greetings is the busiest, whatever
 * others have: there those who have greeted go too.
 */
export class Strangers<S> {
  readonly #most: number
  /** By source, the oldest first. */
  readonly #silent = new Map<string, Set<S>>()
  /** As `#silent`: those who have said what only a node of the cluster says. */
  readonly #greeted = new Map<string, Set<S>>()
  /** What they have said it with, no two the same. */
  readonly #nonces = new Map<S, string>()
  readonly #noncesHere = new Set<string>()
  /** All who are let in, and where they come from. */
  readonly #sources = new Map<S, string>()
  readonly #held = new Map<S, string>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#sources.size + this.#held.size
  }

  has(stranger: S): boolean {
    return this.#sources.has(stranger) || this.#held.has(stranger)
  }

  arrived(stranger: S, host: string): readonly StrangerCommand<S>[] {
    const source = sourceOf(host)
    if (this.#sources.size < this.#most) return [this.#admit(stranger, source)]
    const evicted = this.#toEvict(source)
    if (evicted !== undefined) {
      this.#forget(evicted)
      return [{ kind: "drop", stranger: evicted }, this.#admit(stranger, source)]
    }
    if (this.#held.size >= this.#most) return [{ kind: "drop", stranger }]
    this.#held.set(stranger, source)
    return []
  }

  /**
   * It has said what only a node of this cluster says, with this nonce. False if another who is here has said
   * the same.
   */
  greeted(stranger: S, nonce: string): boolean {
    if (this.#noncesHere.has(nonce)) return false
    const source = this.#sources.get(stranger)
    if (source === undefined) return true
    remove(this.#silent, source, stranger)
    add(this.#greeted, source, stranger)
    this.#nonces.set(stranger, nonce)
    this.#noncesHere.add(nonce)
    return true
  }

  /** It has proven itself, or is gone. */
  left(stranger: S): readonly StrangerCommand<S>[] {
    this.#held.delete(stranger)
    this.#forget(stranger)
    const [next] = this.#held
    if (next === undefined || this.#sources.size >= this.#most) return []
    this.#held.delete(next[0])
    return [this.#admit(...next)]
  }

  #admit(stranger: S, source: string): StrangerCommand<S> {
    this.#sources.set(stranger, source)
    add(this.#silent, source, stranger)
    return { kind: "admit", stranger }
  }

  #toEvict(newcomer: string): S | undefined {
    const greedy = this.#greedy()
    if (greedy === undefined) return this.#oldestOfBusiest(newcomer)
    const silent = oldest(this.#silent.get(greedy))
    // A newcomer of its own takes the place of one that is silent, and of nobody else.
    return silent ?? (greedy === newcomer ? undefined : oldest(this.#greeted.get(greedy)))
  }

  /** The source that has more than half of all places by greetings. */
  #greedy(): string | undefined {
    for (const [source, greeted] of this.#greeted) if (greeted.size > this.#most / 2) return source
    return undefined
  }

  /** Of all who are silent, with the newcomer counted. Among equals the source that came first. */
  #oldestOfBusiest(newcomer: string): S | undefined {
    let busiest: Set<S> | undefined
    let most = 0
    for (const [source, silent] of this.#silent) {
      const count = silent.size + (source === newcomer ? 1 : 0)
      if (count > most) {
        busiest = silent
        most = count
      }
    }
    return oldest(busiest)
  }

  #forget(stranger: S): void {
    const source = this.#sources.get(stranger)
    if (source === undefined) return
    this.#sources.delete(stranger)
    remove(this.#silent, source, stranger)
    remove(this.#greeted, source, stranger)
    this.#noncesHere.delete(this.#nonces.get(stranger) ?? "")
    this.#nonces.delete(stranger)
  }
}

export type StrangerCommand<S> =
  /** Goes on with its handshake. */
  { readonly kind: "admit"; readonly stranger: S } | { readonly kind: "drop"; readonly stranger: S }

/**
 * What counts as one address: of IPv6 the first half, since the second half is free to choose for whoever has
 * one.
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

function add<S>(to: Map<string, Set<S>>, source: string, stranger: S): void {
  const there = to.get(source)
  if (there === undefined) to.set(source, new Set([stranger]))
  else there.add(stranger)
}

function remove<S>(from: Map<string, Set<S>>, source: string, stranger: S): void {
  const there = from.get(source)
  there?.delete(stranger)
  if (there?.size === 0) from.delete(source)
}
