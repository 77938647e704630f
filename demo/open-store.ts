import { EtcdServer } from "../tools/engines/etcd-server.js"
import { PostgresServer } from "../tools/engines/postgres-server.js"
import type { StoreKind, StoreOptions } from "../tools/store-options.js"

/** What the nodes of the demo agree by. */
export interface DemoStore {
  readonly options: StoreOptions
  close(): Promise<void>
}

/** Starts the store of the demo. All that it writes is in `folder`, or in a temporary folder of a server. */
export async function openStore(kind: StoreKind, folder: string): Promise<DemoStore> {
  switch (kind) {
    case "sqlite":
      return { options: { kind, file: `${folder}/demo.db` }, close: async () => {} }
    case "postgres": {
      const server = await PostgresServer.start()
      return { options: { kind, url: server.url, ca: server.ca }, close: () => server.remove() }
    }
    case "etcd": {
      const server = await EtcdServer.start({ authentication: true })
      const { url, auth, ca } = server
      return { options: { kind, endpoints: [url], auth, ca }, close: () => server.remove() }
    }
  }
}
