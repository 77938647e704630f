import type { NodeId } from "../address/node-id.js"
import type { Candidate } from "./topology.js"

/**
 * What this node has lately placed, by node, on top of what that node said of its load. A load is heard of about once a second;
 * without this a burst of new actors would all go by the same old figure. When the figure changes the count begins again: it has
 * most of them in it by then.
 */
export class OwnPlacements {
  readonly #counts = new Map<string, Count>()

  loadOf({ node, load }: Candidate): number {
    const entry = this.#counts.get(node.toString())
    return (load ?? 0) + (entry !== undefined && entry.load === load ? entry.count : 0)
  }

  add({ node, load }: Candidate): void {
    const entry = this.#counts.get(node.toString())
    if (entry !== undefined && entry.load === load) entry.count += 1
    else this.#counts.set(node.toString(), { node, load, count: 1 })
  }

  /** It did not come about. */
  remove(node: NodeId): void {
    const entry = this.#counts.get(node.toString())
    if (entry !== undefined && entry.count > 0) entry.count -= 1
  }

  keepOnly(isThere: (node: NodeId) => boolean): void {
    for (const [text, { node }] of this.#counts) if (!isThere(node)) this.#counts.delete(text)
  }
}

interface Count {
  readonly node: NodeId
  /** The figure that it is on top of. */
  readonly load: number | undefined
  count: number
}
