import type { ReplyRef } from "../actor/reply-ref.js"

/**
 * The unanswered questions, by correlation.
 *
 * Correlations grow, and most questions are answered before the table wraps around. So the slot is given by
 * the low bits of the correlation, without searching or hashing. A question that still occupies its slot when
 * the slot is needed again moves to a map, which holds the few slow ones. A map for all questions would
 * produce more garbage, being rebuilt again and again, than everything else that an ask does.
 */
export class Questions {
  #places: (ReplyRef | undefined)[] = new Array<ReplyRef | undefined>(FEWEST_PLACES).fill(undefined)
  readonly #slow = new Map<number, ReplyRef>()

  get(correlation: number): ReplyRef | undefined {
    const reply = this.#places[correlation & (this.#places.length - 1)]
    return reply?.correlation === correlation ? reply : this.#slow.get(correlation)
  }

  add(reply: ReplyRef): void {
    const place = reply.correlation & (this.#places.length - 1)
    const before = this.#places[place]
    this.#places[place] = reply
    if (before !== undefined) this.#setAside(before)
  }

  /** False if there is no such question. */
  delete(correlation: number): boolean {
    const place = correlation & (this.#places.length - 1)
    if (this.#places[place]?.correlation !== correlation) return this.#slow.delete(correlation)
    this.#places[place] = undefined
    return true
  }

  takeAll(): ReplyRef[] {
    const all = [...this.#slow.values(), ...this.#places.filter((reply) => reply !== undefined)]
    this.#slow.clear()
    this.#places.fill(undefined)
    return all.sort((a, b) => a.correlation - b.correlation)
  }

  #setAside(reply: ReplyRef): void {
    this.#slow.set(reply.correlation, reply)
    if (this.#slow.size <= this.#places.length / 2 || this.#places.length >= MOST_PLACES) return
    const all = this.takeAll()
    this.#places = new Array<ReplyRef | undefined>(this.#places.length * 2).fill(undefined)
    for (const one of all) this.add(one)
  }
}

const FEWEST_PLACES = 64
/** Within the 31 bits that `&` keeps of a number. */
const MOST_PLACES = 2 ** 20
