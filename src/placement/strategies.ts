import type { Random } from "../ports/random.js"
import type { PlacementStrategy } from "./placement-strategy.js"
import { rendezvous } from "./rendezvous.js"

export { rendezvous }

/** This node, if it hosts the type: for actors that talk most with who calls them first. */
export const preferLocal: PlacementStrategy = (id, candidates, { self }) =>
  candidates.find(({ node }) => node.equals(self))?.node ?? rendezvous(id, candidates)

export const random: PlacementStrategy = (_id, candidates, context) =>
  itemAt(candidates, draw(candidates.length, context.random)).node

/**
 * The one of two, drawn by chance, that has less to do. Who always takes the least loaded of all, by figures that are a
 * second old, sends everything to one node in that second, and so do all the others; of two by chance is nearly as even and
 * has no such herd.
 */
export const leastLoadedOfTwo: PlacementStrategy = (_id, candidates, context) => {
  const one = draw(candidates.length, context.random)
  if (candidates.length === 1) return itemAt(candidates, one).node
  const step = 1 + draw(candidates.length - 1, context.random)
  const first = itemAt(candidates, one)
  const second = itemAt(candidates, (one + step) % candidates.length)
  return context.load(second) < context.load(first) ? second.node : first.node
}

/** From 0 to `count - 1`. */
function draw(count: number, random: Pick<Random, "uint32">): number {
  return Math.floor((random.uint32() / 2 ** 32) * count)
}

function itemAt<T>(items: readonly T[], at: number): T {
  const item = items[at]
  if (item === undefined) throw new RangeError("there is no candidate to choose from")
  return item
}
