import { LATENCY_BOUNDS_MS, type LatencyBuckets } from "../actor/latency-buckets.js"
import type { Activation } from "../virtual/activation.js"
import type { VirtualActors } from "../virtual/virtual-actors.js"
import type { LatencySnapshot, RunningActorSnapshot, TypeSnapshot } from "./snapshot.js"

/** The figures of all types, and some of the actors that run here. */
export function observeTypes(
  actors: VirtualActors,
  mostActors: number,
): { readonly types: readonly TypeSnapshot[]; readonly actors: readonly RunningActorSnapshot[] } {
  const { host, catalog } = actors
  const { samples } = host
  const load = new Map<string, { waiting: number; busy: number }>()
  const named: RunningActorSnapshot[] = []
  const isCounted = catalog.size <= MOST_COUNTED
  for (const activation of catalog.all) {
    if (named.length < mostActors) named.push(shownActor(activation))
    else if (!isCounted) break
    const { name } = activation.type
    const counted = load.get(name) ?? { waiting: 0, busy: 0 }
    load.set(name, counted)
    counted.waiting += activation.waiting
    if (activation.isBusy) counted.busy += 1
  }
  const hosted = [...host.types.values()].map(({ name, figures, sharding }): TypeSnapshot => {
    const { waiting, busy } = load.get(name) ?? { waiting: 0, busy: 0 }
    return {
      type: name,
      group: sharding === undefined ? undefined : (sharding.group ?? name),
      isHosted: true,
      activations: figures.activated - figures.ended,
      ended: figures.ended,
      waiting: isCounted ? waiting : undefined,
      busy: isCounted ? busy : undefined,
      turns: figures.turns,
      errors: figures.errors.byCode,
      turnTimes: shownTimes(samples?.turns.get(name)),
      callTimes: shownTimes(samples?.calls.get(name)),
    }
  })
  const called = [...(samples?.calls ?? [])].filter(([type]) => !host.types.has(type))
  const others = called.map(([type, times]) => ({ ...NOT_HOSTED, type, callTimes: shownTimes(times) }))
  return { types: [...hosted, ...others], actors: named }
}

export function shownTimes(times: LatencyBuckets | undefined): LatencySnapshot | undefined {
  return times && { boundsMs: LATENCY_BOUNDS_MS, counts: [...times.counts] }
}

function shownActor({ id, generation, isBusy, waiting }: Activation): RunningActorSnapshot {
  return { type: id.type, key: id.key, generation, isBusy, waiting }
}

const NOT_HOSTED: TypeSnapshot = {
  type: "",
  group: undefined,
  isHosted: false,
  activations: 0,
  ended: 0,
  waiting: 0,
  busy: 0,
  turns: 0,
  errors: {},
  turnTimes: undefined,
  callTimes: undefined,
}

const MOST_COUNTED = 100_000
