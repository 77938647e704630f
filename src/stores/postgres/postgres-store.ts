import { existsSync } from "node:fs"
import type { StoreInThread, StoreProvider } from "../../ports/store.js"
import { NamespacedStore } from "../namespaced-store.js"
import { type PostgresStoreOptions, settingsOf } from "./options.js"
import { StoreLink } from "./store-link.js"

/**
 * Creates a store in a PostgreSQL database, for nodes on any number of hosts. Needs the package `pg`.
 *
 * @example
 * import { ActorSystem } from "troupe"
 * import { postgresStore } from "troupe/postgres"
 *
 * const system = await ActorSystem.start({
 *   namespace: "prod",
 *   listen: { host: "10.0.0.5", port: 25520 },
 *   store: postgresStore({ url: "postgres://troupe@db.internal/app" }),
 * })
 */
export function postgresStore(options: PostgresStoreOptions = {}): StoreProvider {
  const settings = settingsOf(options)
  return {
    open: async (namespace, ports) => {
      return new NamespacedStore(await StoreLink.open(settings, ports), namespace)
    },
    inThread: inThread(options),
  }
}

/** A thread can open the store if it can be given the options, and finds this module as a file. */
function inThread(options: PostgresStoreOptions): StoreInThread | undefined {
  // A bundle of CommonJS has no such property.
  const here = import.meta.url as string | undefined
  if (here === undefined) return undefined
  const module = new URL("./in-thread.js", here)
  try {
    return existsSync(module) ? { module: module.href, options: structuredClone(options) } : undefined
  } catch {
    // A function, such as one that returns passwords, cannot be cloned.
    return undefined
  }
}
