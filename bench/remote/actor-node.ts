import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"
import { greetParent } from "./parent.js"

export class Echo extends Actor {
  static readonly type = "Echo"

  echo(body: string) {
    return body
  }
}

if (process.send !== undefined) {
  const system = await ActorSystem.start({
    namespace: "bench",
    actors: [Echo],
    listen: { host: "127.0.0.1", port: 0 },
    store: sqliteStore({ file: process.argv[2] as string }),
    logger: consoleLogger({ level: "error" }),
  })
  greetParent("ready", () => system.stop())
}
