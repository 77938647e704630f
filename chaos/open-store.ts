import { join } from "node:path"
import { EtcdServer } from "../tools/engines/etcd-server.js"
import { PostgresServer } from "../tools/engines/postgres-server.js"
import type { StoreKind } from "../tools/store-options.js"
import type { ChaosStore } from "./chaos-store.js"
import type { Cuts } from "./cuts.js"
import { ServedStore } from "./served-store.js"
import { SqliteFile } from "./sqlite-file.js"

export interface StorePlace {
  /** The address of a server, and the command by which it runs there. Default: it is relayed to the loopback interface. */
  readonly elsewhere?: { readonly host: string; readonly command: readonly string[] } | undefined
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
      const server = await PostgresServer.start({ tls: true, ...place.elsewhere })
      const optionsAt = (port: number) => ({ kind, url: server.urlAt(port), ca: server.ca })
      if (place.elsewhere !== undefined) return new ServedStore(server, optionsAt)
      return ServedStore.relayed(server, place, optionsAt)
    }
    case "etcd": {
      const server = await EtcdServer.start({ tls: true, authentication: true })
      return ServedStore.relayed(server, place, (port) => ({
        kind,
        endpoints: [server.urlAt(port)],
        auth: server.auth,
        ca: server.ca,
      }))
    }
  }
}
