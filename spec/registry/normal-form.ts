import { Passage, Seen } from "./passage.js"
import { walk } from "./walk.js"
import type { World } from "./world.js"
import { requestText } from "./world-text.js"

/**
 * Brings a world into the one form that it shares with all worlds from which the same can follow: revisions, incarnations and
 * the numbers of activations are replaced by their rank, and what has no order is sorted.
 */
export function normalise(world: World): void {
  if (world.nodes.length > 1) world.nodes.sort((a, b) => a.id - b.id)
  for (const { sights } of world.processes) if (sights.length > 1) sights.sort((a, b) => a.id - b.id)
  const seen = new Seen()
  walk(world, Passage.looking(seen))
  if (!seen.areRanks()) walk(world, Passage.renumbering(seen))
  if (world.requests.length < 2) return
  world.requests = world.requests
    .map((request) => ({ request, text: requestText(request) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ request }) => request)
}
