import { consoleLogger } from "../../src/index.js"
import type { ClusterStore } from "../../src/ports/store.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { etcdStore } from "../../src/stores/etcd/index.js"
import { EtcdServer } from "../../tools/engines/etcd-server.js"

/** A store on a server of one member that is gone afterwards. */
export async function scratchEtcd(): Promise<{ readonly store: ClusterStore; remove(): Promise<void> }> {
  const server = await EtcdServer.start()
  const ports = nodePorts({ logger: consoleLogger({ level: "warn" }) })
  const store = await etcdStore({ endpoints: server.url }).open("bench", ports)
  return { store, remove: () => server.remove() }
}

/** Keys of no lease: those have a lane of their own. */
export const keyOf = (lane: number): string => `placements/Account/user-${lane}@example.com`
