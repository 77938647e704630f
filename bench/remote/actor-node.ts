import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"
import { ParentProcess } from "../../tools/cluster/parent-process.js"

export class Echo extends Actor {
  static readonly type = "Echo"

  echo(body: string) {
    return body
  }
}

if (process.send !== undefined) {
  const parent = new ParentProcess<string, never>()
  const system = await ActorSystem.start({
    namespace: "bench",
    actors: [Echo],
    listen: { host: "127.0.0.1", port: 0 },
    store: sqliteStore({ file: parent.options }),
    logger: consoleLogger({ level: "error" }),
  })
  parent.serve({ greeting: () => "ready", stop: () => system.stop() })
}
