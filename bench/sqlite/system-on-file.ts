import { type ActorClass, ActorSystem, consoleLogger } from "../../src/index.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"
import { observedStore, type StoreObserver } from "./observed-store.js"

/** Starts a system of one node over a SQLite file. */
export function startOnFile(file: string, actor: ActorClass, observer?: StoreObserver): Promise<ActorSystem> {
  const store = sqliteStore({ file })
  return ActorSystem.start({
    namespace: "bench",
    actors: [actor],
    logger: consoleLogger({ level: "error" }),
    store: observer === undefined ? store : observedStore(store, observer),
  })
}
