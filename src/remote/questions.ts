import type { ReplyRef } from "../actor/reply-ref.js"

/**
 * The questions that wait for an answer, by correlation.
 *
 * Correlations grow, and most questions are answered long before so many others have been asked as there are
 * places; so a place is found by the last bits of the number, and nothing is searched or hashed. A question
 * that is still there when its place is needed again goes to a map, where the few live that take long. A map
 * for all of them would cost more in garbage, as it is rebuilt again and again, than everything else that is
 * done for an ask.
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

  /** False if it is not there. */
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
/** The last bits of a number are what `&` leaves of it, up to 31 of them. */
const MOST_PLACES = 2 ** 20
