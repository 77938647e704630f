import type { StoreProvider } from "../../src/ports/store.js"
import { etcdStore, renewEpoch } from "../../src/stores/etcd/index.js"

/** What the processes of the suite need to know of a store. */
export interface EtcdArgument {
  readonly endpoints: readonly string[]
  readonly prefix: string
}

/** For the processes of the suite, and for the suite itself. */
export function provider(argument: string): StoreProvider {
  return etcdStore(optionsOf(argument))
}

/** Begins a new epoch of the store. */
export async function changeEpoch(argument: string): Promise<void> {
  await renewEpoch(optionsOf(argument))
}

function optionsOf(argument: string) {
  const { endpoints, prefix } = JSON.parse(argument) as EtcdArgument
  return { endpoints, prefix, timeoutMs: 30_000 }
}
