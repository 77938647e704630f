import type { Contender } from "../row.js"
import { inParallel } from "../rows/local-ask.js"
import { effectEcho } from "./effect-echo.js"
import { callingLocally } from "./own-calls.js"
import { effectCluster } from "./peer.js"
import type { PeerRow } from "./peer-row.js"

/** A cluster of one runner that keeps its records in memory, with the settings that it comes with. */
const calling = (inFlight: number, folder: string): Contender => ({
  async setup() {
    const effect = await effectEcho(folder)
    const { Layer, ManagedRuntime, Echo } = effect
    const cluster = effect.Sharding.layer.pipe(
      Layer.provideMerge(effect.Runners.layerNoop),
      Layer.provide([
        effect.RunnerStorage.layerMemory,
        effect.MessageStorage.layerNoop,
        effect.RunnerHealth.layerNoop,
        effect.ShardingConfig.layer(),
      ]),
    )
    const runtime = ManagedRuntime.make(
      effect.echoing.pipe(Layer.provideMerge(cluster), Layer.provideMerge(effect.quiet)),
    )
    const clientOf = await runtime.runPromise(Echo.client)
    const echo = clientOf("one")
    const call = (number: number): Promise<number> => runtime.runPromise(echo.next({ number }))
    if ((await call(1)) !== 2) throw new Error("the entity does not count")
    return {
      run: (operations) => inParallel(inFlight, operations, call),
      teardown: () => runtime.dispose(),
    }
  },
})

const row = (inFlight: number): PeerRow => ({
  kind: "peer",
  name: `peer-effect-cluster-local-${inFlight}`,
  unit: "calls/s",
  peer: effectCluster,
  theirs: (folder) => calling(inFlight, folder),
  ours: callingLocally(inFlight),
})

/** Calls to an entity of this process, a number in and out, beside calls to an actor. */
export const peerEffectClusterLocal1 = row(1)
export const peerEffectClusterLocal64 = row(64)
