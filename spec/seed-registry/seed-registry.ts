import type { Model, Step } from "../explorer/model.js"

/**
 * A registry that detects failures by heartbeats: nodes are suspected, then failed, and a failed node's actors may be placed
 * anew. It is the model that the requirements for Troupe's registry came with, and it is too weak to build on. What it does
 * show, and what it does not:
 *
 * - `SingleActivation` is true by construction: a placement is one variable, so an actor is never placed on two nodes. That a
 *   node which is not dead, only slow, goes on running an actor that has been placed elsewhere cannot be said in it.
 * - Only dead nodes miss heartbeats, so a live node is never suspected; the hard case of failure detection is left out.
 * - It was said of it that letting suspect nodes claim actors breaks `PlacementConsistency`. It does not: a suspect node in
 *   this model is a dead one, and dead nodes claim nothing. What does break it is a failed node's placements not being cleared.
 *
 * Counted as TLC counts, the initial state and self-loops included, it has 6,174 states and 22,845 steps for two nodes, two actors
 * and two missed heartbeats.
 */
export function seedRegistry(variant: SeedVariant = {}): Model<SeedState> {
  return {
    name: "seed registry",
    initial: [
      {
        status: NODES.map(() => "active"),
        placement: ACTORS.map(() => NOWHERE),
        missed: NODES.map(() => 0),
        alive: NODES.map(() => true),
        cache: NODES.map(() => ACTORS.map(() => NOWHERE)),
      },
    ],
    *steps(state) {
      for (const node of NODES) {
        yield* heartbeats(state, node, variant)
        if (isAlive(state, node)) {
          yield { label: `NodeCrash(${node})`, state: { ...state, alive: put(state.alive, node, false) } }
        }
        for (const actor of ACTORS) yield* placements(state, node, actor, variant)
      }
    },
    invariants: {
      TypeOK: ({ status, placement, missed, cache }) =>
        status.every((one) => one === "active" || one === "suspect" || one === "failed") &&
        placement.every(isPlace) &&
        missed.every((count) => count >= 0 && count <= MAX_MISSED) &&
        cache.every((places) => places.every(isPlace)),
      SingleActivation: ({ placement }) =>
        ACTORS.every((actor) => NODES.filter((node) => placement[actor] === node).length <= 1),
      PlacementConsistency: ({ placement, status }) =>
        placement.every((node) => node === NOWHERE || status[node] !== "failed"),
    },
  }
}

export interface SeedState {
  readonly status: readonly ("active" | "suspect" | "failed")[]
  /** The node of each actor. */
  readonly placement: readonly number[]
  /** Heartbeats that each node has missed. */
  readonly missed: readonly number[]
  readonly alive: readonly boolean[]
  /** What each node believes of each actor. */
  readonly cache: readonly (readonly number[])[]
}

export interface SeedVariant {
  readonly suspectsClaim?: boolean
  readonly failedKeepPlacements?: boolean
}

export const NODES = [0, 1] as const
export const ACTORS = [0, 1] as const
const NOWHERE = -1
const MAX_MISSED = 2

export function isAlive({ alive }: SeedState, node: number): boolean {
  return alive[node] === true
}

function* heartbeats(state: SeedState, node: number, variant: SeedVariant): Iterable<Step<SeedState>> {
  const status = state.status[node]
  const missed = state.missed[node] as number
  if (isAlive(state, node)) {
    yield {
      label: `SendHeartbeat(${node})`,
      state: {
        ...state,
        status: status === "suspect" ? put(state.status, node, "active") : state.status,
        missed: put(state.missed, node, 0),
      },
    }
  } else if (status !== "failed" && missed < MAX_MISSED) {
    yield {
      label: `HeartbeatTick(${node})`,
      state: { ...state, missed: put(state.missed, node, missed + 1) },
    }
  }
  if (missed < MAX_MISSED || status === "failed") return
  const kept = variant.failedKeepPlacements === true || status === "active"
  yield {
    label: `DetectFailure(${node})`,
    state: {
      ...state,
      status: put(state.status, node, status === "active" ? "suspect" : "failed"),
      placement: kept ? state.placement : state.placement.map((at) => (at === node ? NOWHERE : at)),
    },
  }
}

function* placements(
  state: SeedState,
  node: number,
  actor: number,
  variant: SeedVariant,
): Iterable<Step<SeedState>> {
  const { placement, cache, status } = state
  const known = cache[node] as readonly number[]
  const mayClaim = status[node] === "active" || (variant.suspectsClaim === true && status[node] === "suspect")
  if (mayClaim && isAlive(state, node) && placement[actor] === NOWHERE) {
    yield {
      label: `ClaimActor(${node}, ${actor})`,
      state: {
        ...state,
        placement: put(placement, actor, node),
        cache: put(cache, node, put(known, actor, node)),
      },
    }
  }
  if (placement[actor] === node) {
    yield {
      label: `ReleaseActor(${node}, ${actor})`,
      state: { ...state, placement: put(placement, actor, NOWHERE) },
    }
  }
  if (isAlive(state, node) && known[actor] !== placement[actor]) {
    yield {
      label: `InvalidateCache(${node}, ${actor})`,
      state: { ...state, cache: put(cache, node, put(known, actor, placement[actor] as number)) },
    }
  }
}

function isPlace(node: number): boolean {
  return node === NOWHERE || (NODES as readonly number[]).includes(node)
}

function put<T>(list: readonly T[], at: number, value: T): readonly T[] {
  return list.with(at, value)
}
