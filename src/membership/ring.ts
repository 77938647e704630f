import { type Hash64, stableHash } from "../address/stable-hash.js"

/**
 * Nodes in a circle, in an order that is the same on every node: by the hashes of their ids, so that the
 * nodes of one host or rack, which fail together, are not next to each other. Each node observes those that
 * come after it, so each is observed by those before it: as many as it observes itself, in a cluster of any
 * size.
 */
export class Ring {
  readonly #nodes: readonly string[]
  readonly #places: ReadonlyMap<string, number>

  constructor(nodes: Iterable<string>) {
    const hashed = Array.from(nodes, (node) => ({ node, hash: stableHash(node) }))
    this.#nodes = hashed.sort(inOrder).map(({ node }) => node)
    this.#places = new Map(this.#nodes.map((node, place) => [node, place]))
  }

  get size(): number {
    return this.#nodes.length
  }

  /** Returns the next nodes after this one: all others where there are no more than `count`. */
  after(node: string, count: number): readonly string[] {
    return this.#neighbours(node, count, 1)
  }

  /** Returns the nodes before this one, the nearest first: all others if there are no more than `count`. */
  before(node: string, count: number): readonly string[] {
    return this.#neighbours(node, count, -1)
  }

  /** A node that is not in the circle has no neighbours. */
  #neighbours(node: string, count: number, step: 1 | -1): readonly string[] {
    const place = this.#places.get(node)
    if (place === undefined) return []
    const { length } = this.#nodes
    return Array.from({ length: Math.min(count, length - 1) }, (_, nth) => {
      const at = (place + step * (nth + 1) + length) % length
      return this.#nodes[at] as string
    })
  }
}

interface Hashed {
  readonly node: string
  readonly hash: Hash64
}

/** By hash, and by id where two are equal. */
function inOrder(a: Hashed, b: Hashed): number {
  return a.hash.high - b.hash.high || a.hash.low - b.hash.low || (a.node < b.node ? -1 : 1)
}
