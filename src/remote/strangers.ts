/**
 * Those who have connected and not yet proven who they are: a decision about how many there may be, and who goes when there are more.
 *
 * A flood of connections must neither fill the memory nor lock honest nodes out, and honest nodes may come in numbers too: all of a cluster dial a node
 * that comes back. So there is one limit for all who are unproven, TLS handshakes included. Past it the source address that has
 * the most of them loses its oldest: an attacker with few addresses crowds out itself. Whoever has said what only a node of the
 * cluster says is never sent away; if there are no others, newcomers are held back, unread, until there is room. To send
 * away the oldest of all would be simpler, and favour the attacker: that is the one nearest to the end of its handshake.
 */
export class Strangers<S> {
  readonly #most: number
  /** Those who may be sent away, the oldest first, by source. */
  readonly #silent = new Map<string, Set<S>>()
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
    const evicted = this.#oldestOfBusiest(source)
    if (evicted !== undefined) {
      this.#forget(evicted)
      return [{ kind: "drop", stranger: evicted }, this.#admit(stranger, source)]
    }
    if (this.#held.size >= this.#most) return [{ kind: "drop", stranger }]
    this.#held.set(stranger, source)
    return []
  }

  /** It has said what only a node of this cluster says. */
  greeted(stranger: S): void {
    const source = this.#sources.get(stranger)
    if (source !== undefined) this.#removeSilent(stranger, source)
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
    const silent = this.#silent.get(source)
    if (silent === undefined) this.#silent.set(source, new Set([stranger]))
    else silent.add(stranger)
    return { kind: "admit", stranger }
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
    return busiest?.values().next().value
  }

  #forget(stranger: S): void {
    const source = this.#sources.get(stranger)
    if (source === undefined) return
    this.#sources.delete(stranger)
    this.#removeSilent(stranger, source)
  }

  #removeSilent(stranger: S, source: string): void {
    const silent = this.#silent.get(source)
    silent?.delete(stranger)
    if (silent?.size === 0) this.#silent.delete(source)
  }
}

export type StrangerCommand<S> =
  /** Goes on with its handshake. */
  { readonly kind: "admit"; readonly stranger: S } | { readonly kind: "drop"; readonly stranger: S }

/** What counts as one address: of IPv6 the first half, since the second half is free to choose for whoever has one. */
export function sourceOf(host: string): string {
  if (!host.includes(":") || host.startsWith("::ffff:")) return host
  const [head = "", tail] = host.split("::")
  const groups = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  while (tail !== undefined && groups.length + after.length < 8) groups.push("0")
  return [...groups, ...after].slice(0, 4).join(":")
}
