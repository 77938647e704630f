import { nodePorts } from "../../runtime/node-ports.js"
import { EtcdLink } from "./etcd-link.js"
import { type EtcdStoreOptions, linkOptions } from "./etcd-options.js"
import { failureOf, unavailable } from "./problem.js"

/**
 * Announces that the history of a store may have been truncated in a way that the store cannot detect by
 * itself: a snapshot of the members' volumes was rolled back, or a cluster was forced anew from one member
 * (`--force-new-cluster`). Nodes that know the store from before then have to join again, and revisions
 * continue above all that were issued. Returns the new epoch.
 */
export async function renewEpoch(options: EtcdStoreOptions): Promise<string> {
  const checked = linkOptions(options)
  const link = new EtcdLink(checked, nodePorts())
  try {
    return await link.renewEpoch()
  } catch (error) {
    throw unavailable(failureOf(error, checked.endpoints.join(", ")), "unknown")
  } finally {
    link.close()
  }
}
