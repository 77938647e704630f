import type { ClusterStore, StoreProvider } from "../../../src/ports/store.js"
import { provider as inThread } from "../../../src/stores/etcd/in-thread.js"
import { renewEpoch } from "../../../src/stores/etcd/index.js"
import { pause } from "../../../tools/pause.js"

/** For the processes of the suite, and for the suite itself. The argument has the options, as JSON. */
export function provider(argument: string): StoreProvider {
  const store = inThread(JSON.parse(argument))
  return { open: (namespace, ports) => openedWithin(60_000, () => store.open(namespace, ports)) }
}

/** Begins a new epoch of the store. */
export async function changeEpoch(argument: string): Promise<void> {
  await renewEpoch(JSON.parse(argument))
}

/** A process may start while the server is being restarted. */
async function openedWithin(ms: number, open: () => Promise<ClusterStore>): Promise<ClusterStore> {
  const end = performance.now() + ms
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (performance.now() > end) throw error
      await pause(50)
    }
  }
}
