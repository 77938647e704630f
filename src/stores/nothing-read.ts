import type { Entry } from "../ports/store.js"

/** What a commit without `reads` has read. Nearly all commits are saves, for which nothing is allocated. */
export const NOTHING_READ: readonly (Entry | undefined)[] = Object.freeze([])
