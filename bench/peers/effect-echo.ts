import { importFrom } from "./import-from.js"

/** The modules of Effect that a cluster is made of, and the entity that is called. */
export async function effectEcho(folder: string) {
  const [effect, cluster, { Rpc, RpcSerialization }, { SocketServer }, sockets] = await Promise.all([
    importFrom(folder, "effect"),
    importFrom(folder, "effect/unstable/cluster"),
    importFrom(folder, "effect/unstable/rpc"),
    importFrom(folder, "effect/unstable/socket"),
    importFrom(folder, "@effect/platform-node-shared/NodeClusterSocket"),
  ])
  const { Effect, Layer, References, Schema } = effect
  const Echo = cluster.Entity.make("Echo", [
    Rpc.make("next", { payload: { number: Schema.Number }, success: Schema.Number }),
    Rpc.make("echo", { payload: { body: Schema.String }, success: Schema.String }),
  ])
  return {
    ...effect,
    ...cluster,
    RpcSerialization,
    SocketServer,
    sockets,
    Echo,
    /** Handles calls one after the other, which is what entities do unless told otherwise. */
    echoing: Echo.toLayer({
      next: ({ payload }: { payload: { number: number } }) => Effect.succeed(payload.number + 1),
      echo: ({ payload }: { payload: { body: string } }) => Effect.succeed(payload.body),
    }),
    quiet: Layer.succeed(References.MinimumLogLevel, "Error"),
  }
}
