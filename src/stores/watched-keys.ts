/**
 * Which keys can be watched. A store keeps the changes of these alone, and notifies watchers of them: nodes
 * follow who is there and what is where. All other keys, the states of actors among them, are read when they
 * are needed.
 */
const WATCHED = ["nodes/", "leases/", "placements/", "shards/", "wards/"]

/** Whether changes of this key are reported, or of all keys with this prefix; in any namespace. */
export function isWatched(key: string): boolean {
  const start = key.indexOf("/") + 1
  return WATCHED.some((prefix) => key.startsWith(prefix, start))
}
