import { Actor, ActorSystem, consoleLogger, sharded } from "../../src/index.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"
import { ParentProcess } from "../../tools/cluster/parent-process.js"

/** Gives the body back, and says in which process. */
export class ShardedEcho extends Actor {
  static readonly type = "ShardedEcho"
  static readonly placement = sharded({ shards: 200 })

  echo(body: string) {
    return body
  }

  process() {
    return process.pid
  }
}

/** The same, with a placement of its own. */
export class LoneEcho extends Actor {
  static readonly type = "LoneEcho"

  echo(body: string) {
    return body
  }

  process() {
    return process.pid
  }
}

/** A node with sharded actors and others, on the store in this file. */
export function startShardedNode(file: string): Promise<ActorSystem> {
  return ActorSystem.start({
    namespace: "bench",
    actors: [LoneEcho, ShardedEcho],
    listen: { host: "127.0.0.1", port: 0 },
    store: sqliteStore({ file }),
    logger: consoleLogger({ level: "error" }),
  })
}

if (process.send !== undefined && process.argv[1]?.endsWith("sharded-node.js") === true) {
  const parent = new ParentProcess<string, never>()
  const system = await startShardedNode(parent.options)
  parent.serve({ greeting: () => "ready", stop: () => system.stop() })
}
