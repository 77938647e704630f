import type { StoreProvider } from "../../ports/store.js"
import { storeWith } from "./sqlite-store.js"
import type { LinkOptions } from "./worker-link.js"

/** Opens the store in the thread that renews leases. The file exists by then: the node has it open. */
export function provider(options: LinkOptions): StoreProvider {
  return storeWith({ ...options, mustExist: true })
}
