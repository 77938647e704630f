import type { Left } from "./world.js"

/** What is explored: whose the generation is, what happens and how often, and which bug is planted. */
export interface Setting {
  readonly name: string
  /** Whether the generation is that of a shard, and outlives activations that end in order. */
  readonly isShared: boolean
  /** How many satellites the actor has at most, and whether it remembers the operations on it. */
  readonly has: { readonly rows: number; readonly memory: boolean }
  readonly left: Partial<Left>
  readonly bugs: readonly Bug[]
}

/** Bugs that can be planted: around the decisions, in their commits, and in the drivers. */
export const BUGS = {
  "state-alone": "a state is deleted without its placement",
  "same-generation": "a tombstone is removed under the generation that its actor was destroyed under",
  "dying-ignored": "an activation that finds the actor dying begins the next life",
  "memory-dropped": "a tombstone does not keep what the actor remembers",
  "removal-undecided": "an activation ends in order while its removal is on its way",
  "removal-unconditioned": "a removal is not conditioned on the tombstone",
} as const

export type Bug = keyof typeof BUGS
