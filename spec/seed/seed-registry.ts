import type { Model, Step } from "../explorer/model.js"

/**
 * A registry that detects failures by heartbeats: nodes are suspected, then failed, and the actors of a
 * failed node may be placed again. The requirements of Troupe's registry came with this model. It is kept for
 * its known counts, which the explorer has to reproduce: counted as TLC counts, the initial state and
 * self-loops included, it has 6,174 states and 22,845 steps for two nodes, two actors and two missed
 * heartbeats.
 *
 * As a protocol it is too weak to build on. `SingleActivation` is true by construction: a placement is one
 * variable, so the model cannot express a node that is slow, not dead, and still runs an actor that has been
 * placed elsewhere. And only dead nodes miss heartbeats, so a live node is never suspected: the hard case of
 * failure detection is absent.
 */
export function seedRegistry(): Model<SeedState> {
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
        if (state.alive[node] === true) {
          yield heartbeat(state, node)
          yield { label: `NodeCrash(${node})`, state: { ...state, alive: state.alive.with(node, false) } }
        } else {
          yield* missing(state, node)
        }
        yield* detecting(state, node)
        for (const actor of ACTORS) yield* placing(state, node, actor)
      }
    },
    invariants: {
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

const NODES = [0, 1]
const ACTORS = [0, 1]
const NOWHERE = -1
const MAX_MISSED = 2

function heartbeat(state: SeedState, node: number): Step<SeedState> {
  const status = state.status[node] === "suspect" ? state.status.with(node, "active") : state.status
  return { label: `SendHeartbeat(${node})`, state: { ...state, status, missed: state.missed.with(node, 0) } }
}

function* missing(state: SeedState, node: number): Iterable<Step<SeedState>> {
  const missed = state.missed[node] as number
  if (state.status[node] === "failed" || missed >= MAX_MISSED) return
  yield { label: `HeartbeatTick(${node})`, state: { ...state, missed: state.missed.with(node, missed + 1) } }
}

/** A suspect that is found failed loses its placements. */
function* detecting(state: SeedState, node: number): Iterable<Step<SeedState>> {
  const { status, placement, missed } = state
  if ((missed[node] as number) < MAX_MISSED || status[node] === "failed") return
  const isFailing = status[node] === "suspect"
  yield {
    label: `DetectFailure(${node})`,
    state: {
      ...state,
      status: status.with(node, isFailing ? "failed" : "suspect"),
      placement: isFailing ? placement.map((at) => (at === node ? NOWHERE : at)) : placement,
    },
  }
}

function* placing(state: SeedState, node: number, actor: number): Iterable<Step<SeedState>> {
  const { placement, cache, status, alive } = state
  const known = cache[node] as readonly number[]
  const learned = (at: number): SeedState["cache"] => cache.with(node, known.with(actor, at))
  if (alive[node] === true && status[node] === "active" && placement[actor] === NOWHERE) {
    const claimed = { ...state, placement: placement.with(actor, node), cache: learned(node) }
    yield { label: `ClaimActor(${node}, ${actor})`, state: claimed }
  }
  if (placement[actor] === node) {
    const released = { ...state, placement: placement.with(actor, NOWHERE) }
    yield { label: `ReleaseActor(${node}, ${actor})`, state: released }
  }
  if (alive[node] === true && known[actor] !== placement[actor]) {
    const corrected = { ...state, cache: learned(placement[actor] as number) }
    yield { label: `InvalidateCache(${node}, ${actor})`, state: corrected }
  }
}
