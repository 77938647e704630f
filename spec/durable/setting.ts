import type { Left } from "./world.js"

/** What is explored: the operations, what happens and how often, and which bug is planted. */
export interface Setting {
  readonly name: string
  readonly operations: readonly ("numbered" | "named")[]
  /** The number of turns that one commit has room for. */
  readonly turnsPerBatch: number
  readonly left: Partial<Left>
  readonly bugs: readonly Bug[]
}

/** Bugs that can be planted: around the decisions, in their commits, and in the drivers. */
export const BUGS = {
  "memory-apart": "what is remembered of a commit's operations is written with the commit after it",
  "gate-at-sending": "answers leave when their commit is sent",
  "fresh-number": "a repeat has a number of its own",
  "closed-by-count": "of numbers that are closed, an actor keeps none once it has applied the next one",
  "throw-forgotten": "the throw of a repeat is not remembered",
  "memory-of-later": "a batch that is full is written with what is remembered of the turns behind it",
  "look-up-early": "the row of a repeat is looked up before the claim, and its commit is not guarded",
  "no-guard": "the row of a named operation is put, whether or not there is one",
  "revision-ignored": "a commit is not conditioned on the revision of the state",
} as const

export type Bug = keyof typeof BUGS
