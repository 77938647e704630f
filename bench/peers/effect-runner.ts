import { ParentProcess } from "../../tools/cluster/parent-process.js"
import { effectEcho } from "./effect-echo.js"

// A runner of Effect Cluster that has every shard, and says at which port it is reached.
const parent = new ParentProcess<string, never>()
const effect = await effectEcho(parent.options)
const { Layer, ManagedRuntime, Option, RunnerAddress } = effect
const cluster = effect.SocketRunner.layer.pipe(
  Layer.provideMerge(effect.sockets.layerSocketServer),
  Layer.provide(effect.sockets.layerClientProtocol),
  Layer.provide([
    effect.RunnerStorage.layerMemory,
    effect.MessageStorage.layerNoop,
    effect.RunnerHealth.layerNoop,
    // The runner goes by this address too, but only the client, which hears the real one, ever dials it.
    effect.ShardingConfig.layer({ runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", 0)) }),
    effect.RpcSerialization.layerSchemaBinary(),
  ]),
)
const runtime = ManagedRuntime.make(
  effect.echoing.pipe(Layer.provideMerge(cluster), Layer.provideMerge(effect.quiet)),
)
const server = await runtime.runPromise(effect.SocketServer.SocketServer)
parent.serve({ greeting: () => `${server.address.port}`, stop: () => runtime.dispose() })
