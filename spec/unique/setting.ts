import type { Left } from "./world.js"

/** What is explored: what happens and how often, and which bug is planted. */
export interface Setting {
  readonly name: string
  readonly actors: number
  readonly left: Partial<Left>
  readonly bugs: readonly Bug[]
}

/** Bugs that can be planted: in the commits, and in the drivers. */
export const BUGS = {
  "no-guard": "a unique value is put, whether or not another actor has it",
  "told-at-once": "a turn is rejected although a copy of its commit may still arrive",
  "entries-of-rejected": "an activation takes the entries of a rejected turn for its own",
  "entries-apart": "the entries are written in a commit of their own",
  "not-alone": "a turn runs behind a guarded commit, and is stored although that is rejected",
} as const

export type Bug = keyof typeof BUGS
