import type { Left } from "./world.js"

/** What is explored: nodes and entities, what happens and how often, and which bug is planted. */
export interface Setting {
  readonly name: string
  readonly nodes: number
  readonly entities: number
  readonly left: Partial<Left>
  readonly bugs: readonly Bug[]
}

/** Bugs that can be planted: around the decisions, in their commits, and in the drivers. */
export const BUGS = {
  "undecided-restart": "an entity starts again under its shard's generation before its last save is decided",
  "hung-restart": "an entity whose turn hangs starts again under its shard's generation",
  "late-doors": "the doors of a shard shut after its transfer is sent",
  "adopted-unread": "a node believes a notice, and does not read the shard",
  "adopted-twice": "a node adopts a generation that it has run under before",
  "adopted-beside-a-claim": "a node adopts a generation at which it has sent a claim before",
  "kept-reopens": "a mover that finds the shard its own opens it at the old generation",
  "save-on-state": "a save is conditioned on the state alone",
  "save-on-shard": "a save is conditioned on the shard alone",
  "anew-unwaited": "a shard is claimed anew while saves of its entities are in flight",
  "repeated-ids": "write ids repeat under one generation",
  "revision-ignored": "a save that finds its id does not compare the revision",
  "transfer-without-record": "a transfer is not conditioned on the record of its target",
} as const

export type Bug = keyof typeof BUGS
