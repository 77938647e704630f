import { nodePorts } from "../../runtime/node-ports.js"
import { type PostgresStoreOptions, settingsOf } from "./options.js"
import { StoreLink } from "./store-link.js"

/**
 * Announces that the history of a store may have been truncated in a way that the store cannot detect by
 * itself: a snapshot of the server's volume was rolled back, or a copy of its files was put back, while no
 * node was running. Nodes that know the store from before then have to join again, and revisions continue
 * above all that were issued. Returns the new epoch.
 */
export async function renewEpoch(options: PostgresStoreOptions): Promise<string> {
  const link = await StoreLink.open(settingsOf(options), nodePorts())
  try {
    return await link.renewEpoch()
  } finally {
    await link.close()
  }
}
