/**
 * Which keys can be watched. A store keeps the changes of these alone, and notifies watchers of them: nodes
 * follow who is there. All other keys, such as leases, placements and states, are read when they are needed,
 * so that a renewal, a claim and a save cost one write each.
 */
const WATCHED = ["nodes/", "shards/", "wards/"]

/** Whether changes of this key are reported, or of all keys with this prefix; in any namespace. */
export function isWatched(key: string): boolean {
  const start = key.indexOf("/") + 1
  return WATCHED.some((prefix) => key.startsWith(prefix, start))
}
