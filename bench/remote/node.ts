import { ActorSystem, consoleLogger } from "../../src/index.js"

/** A system that talks to others on this machine, and keeps quiet while all is well. */
export function startNode(): Promise<ActorSystem> {
  return ActorSystem.start({
    namespace: "bench",
    listen: { host: "127.0.0.1", port: 0 },
    logger: consoleLogger({ level: "warn" }),
  })
}
