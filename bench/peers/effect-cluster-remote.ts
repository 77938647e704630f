import { startChild } from "../remote/child.js"
import { BODY_BYTES } from "../remote/exchanging-frames.js"
import { askInLanes } from "../remote/lanes.js"
import type { Contender } from "../row.js"
import { callRemote1, callRemote64, callRemote1024 } from "../rows/call-remote.js"
import { effectEcho } from "./effect-echo.js"
import { effectCluster } from "./peer.js"
import type { PeerRow } from "./peer-row.js"

/**
 * A client here, the runner that has the entity in a child, and a socket in between with the format that it
 * speaks unless told otherwise. A database would tell the client where runners are; nothing of it is asked
 * during a call, so the client has a list in memory instead, with the one runner on it.
 */
const calling = (inFlight: number, folder: string): Contender => ({
  async setup() {
    const child = await startChild("../peers/effect-runner", folder)
    const effect = await effectEcho(folder)
    const { Effect, Layer, ManagedRuntime, Echo, Runner, RunnerAddress, RunnerStorage } = effect
    const runner = Runner.make({
      address: RunnerAddress.make("127.0.0.1", Number(child.greeting)),
      groups: ["default"],
      weight: 1,
    })
    const listed = Effect.tap(RunnerStorage.makeMemory, (storage: RunnerList) =>
      storage.register(runner, true),
    )
    const runtime = ManagedRuntime.make(
      effect.SocketRunner.layerClientOnly.pipe(
        Layer.provide(effect.sockets.layerClientProtocol),
        Layer.provide([
          Layer.effect(RunnerStorage.RunnerStorage, listed),
          effect.MessageStorage.layerNoop,
          effect.ShardingConfig.layer(),
          effect.RpcSerialization.layerSchemaBinary(),
        ]),
        Layer.provideMerge(effect.quiet),
      ),
    )
    const clientOf = await runtime.runPromise(Echo.client)
    const echo = clientOf("one")
    const body = "a".repeat(BODY_BYTES)
    const asker = {
      length: BODY_BYTES,
      ask: (): Promise<string> => runtime.runPromise(echo.echo({ body })),
    }
    await asker.ask()
    return {
      run: (operations) => askInLanes(inFlight, operations, asker),
      teardown: async () => {
        await runtime.dispose()
        await child.stop()
      },
    }
  },
})

interface RunnerList {
  register(runner: unknown, isHealthy: boolean): unknown
}

const row = (inFlight: number, ours: Contender): PeerRow => ({
  kind: "peer",
  name: `peer-effect-cluster-remote-${inFlight}`,
  unit: "calls/s",
  peer: effectCluster,
  theirs: (folder) => inStream(inFlight, calling(inFlight, folder)),
  ours: inStream(inFlight, ours),
})

/**
 * Samples that are long enough for the stream they are about. A burst into an idle connection may wait for an
 * acknowledgement, and a sample of that burst alone would be all waiting.
 */
const inStream = (inFlight: number, contender: Contender): Contender => ({
  setup: async () => ({ ...(await contender.setup()), fewestOperations: inFlight === 1 ? 1 : 4_096 }),
})

/** Calls to an entity of another process, the same body in and out, beside calls to an actor there. */
export const peerEffectClusterRemote1 = row(1, callRemote1.ours)
export const peerEffectClusterRemote64 = row(64, callRemote64.ours)
export const peerEffectClusterRemote1024 = row(1024, callRemote1024.ours)
