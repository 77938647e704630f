import { join } from "node:path"
import { EtcdServer } from "../tools/engines/etcd-server.js"
import { PostgresServer } from "../tools/engines/postgres-server.js"
import type { StoreKind } from "../tools/store-options.js"
import type { ChaosStore } from "./chaos-store.js"
import type { Cuts } from "./cuts.js"
import { ServedStore } from "./served-store.js"
import { SqliteFile } from "./sqlite-file.js"

export interface StorePlace {
  readonly directory: string
  /** Of the nodes and clients that use it. */
  readonly names: readonly string[]
  readonly cuts: Cuts
}

/** Starts the store of a run. A server is fetched at the first use. */
export async function openStore(kind: StoreKind, place: StorePlace): Promise<ChaosStore> {
  switch (kind) {
    case "sqlite":
      return new SqliteFile(join(place.directory, "chaos.db"))
    case "postgres": {
      const server = await PostgresServer.start({ tls: true })
      return ServedStore.open(server, place, (port) => ({ kind, url: server.urlAt(port), ca: server.ca }))
    }
    case "etcd": {
      const server = await EtcdServer.start({ tls: true, authentication: true })
      return ServedStore.open(server, place, (port) => ({
        kind,
        endpoints: [server.urlAt(port)],
        auth: server.auth,
        ca: server.ca,
      }))
    }
  }
}
