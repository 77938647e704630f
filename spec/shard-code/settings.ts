import { UNLIMITED } from "../registry-code/world.js"
import type { Setting } from "./setting.js"

export function setting(
  name: string,
  size: Pick<Setting, "nodes" | "entities">,
  left: Setting["left"],
): Setting {
  return { name, ...size, left, bugs: [] }
}

/** Two nodes and one entity: what moves is a shard, or the placement of one actor. */
export const ONE = { nodes: 2, entities: 1 }
/** Two nodes and a shard with two entities. */
export const TWO = { nodes: 2, entities: 2 }
const THREE = { nodes: 3, entities: 1 }

/** Explored in every run of the tests. The invariants hold in all states of each. */
export const SETTINGS: readonly Setting[] = [
  setting("transfer", ONE, { transfers: 2, losses: 1, words: 1, claims: 1, starts: 2 }),
  setting("transfer, unanswered", ONE, { transfers: 1, losses: 2, words: 1, claims: 1, starts: 2, saves: 1 }),
  setting("transfer, fenced", ONE, { transfers: 1, losses: 1, fences: 1, joins: 1, claims: 1, starts: 2 }),
  setting("transfer, leaving", ONE, { transfers: 2, leaves: 1, losses: 1, words: 1, claims: 1 }),
  setting("transfer, three nodes", THREE, { transfers: 2, losses: 1, claims: 1, starts: 1 }),
  setting("release", ONE, { releases: 1, transfers: 1, losses: 1, words: 1, claims: 1, starts: 2 }),
  setting("sharded restart", ONE, { starts: 3, saves: 3, ends: 2, losses: 2 }),
  setting("sharding", TWO, { starts: 3, saves: 2, ends: 1, losses: 1 }),
  setting("sharding, moved", TWO, { starts: 3, saves: 1, losses: 1, transfers: 1 }),
  setting("claim anew", TWO, { starts: 3, saves: 2, hangs: 1, losses: 1 }),
  setting("claim anew, answered late", TWO, { starts: 3, saves: 1, hangs: 1, slowAnswers: 1, transfers: 1 }),
]

/** The settings of the liveness properties. */
export const PROGRESS_SETTINGS = {
  moving: setting("moving", ONE, { claims: UNLIMITED, transfers: 2, losses: 1, words: 1 }),
  movingFenced: setting("moving, fenced", ONE, {
    claims: UNLIMITED,
    transfers: 1,
    losses: 1,
    fences: 1,
    joins: 1,
  }),
  movingLeaving: setting("moving, leaving", ONE, { claims: UNLIMITED, transfers: 2, losses: 1, leaves: 1 }),
  hanging: setting("hanging", TWO, { starts: 2, saves: 1, hangs: 1, losses: 1 }),
} as const

/** Explored by hand. */
export const LARGE_SETTINGS: readonly Setting[] = [
  setting("transfer, twice, unanswered", ONE, {
    ...{ transfers: 2, losses: 2, slowAnswers: 1, words: 1, claims: 2, starts: 2, saves: 1 },
  }),
  setting("transfer, fenced, with saves", ONE, {
    ...{ transfers: 2, losses: 1, fences: 1, joins: 1, words: 1, claims: 2, starts: 2, saves: 1 },
  }),
  setting("transfer, leaving, with saves", ONE, {
    ...{ transfers: 2, leaves: 1, losses: 1, words: 1, claims: 2, starts: 2, saves: 1 },
  }),
  setting("transfer, three nodes, fenced", THREE, {
    ...{ transfers: 2, losses: 1, fences: 1, words: 1, claims: 1, starts: 2, saves: 1 },
  }),
  setting("release, unanswered", ONE, {
    ...{ releases: 2, transfers: 1, losses: 1, words: 1, claims: 2, starts: 2, saves: 1 },
  }),
  setting("sharding, with everything", TWO, {
    ...{ starts: 3, saves: 2, ends: 1, losses: 1, transfers: 1, words: 1, claims: 1 },
  }),
  setting("claim anew, with everything", TWO, {
    ...{ starts: 3, saves: 1, hangs: 1, losses: 1, slowAnswers: 1, transfers: 1, claims: 1, fences: 1 },
  }),
]
