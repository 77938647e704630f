import type { ClusterStore, Entry, Listing } from "../ports/store.js"

/**
 * Reads all pages of a listing. Its moment is that of the first page, so that a watch from it misses nothing;
 * later pages may show changes that the watch reports again.
 */
export async function listAll(store: ClusterStore, prefix: string): Promise<Listing> {
  const first = await store.list(prefix)
  const entries: Entry[] = [...first.entries]
  for (let page = first; page.more; ) {
    page = await store.list(prefix, { after: entries.at(-1)?.key })
    // Pages of two histories do not belong together.
    if (page.epoch !== first.epoch) return listAll(store, prefix)
    entries.push(...page.entries)
  }
  return { ...first, entries, more: false }
}
