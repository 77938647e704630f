import type { StoreProvider } from "../../ports/store.js"
import { storeWith } from "./sqlite-store.js"
import type { LinkOptions } from "./worker-link.js"

/** Opens the store in the renewal thread. Its node has created the file. */
export function provider(options: unknown): StoreProvider {
  return storeWith({ ...(options as LinkOptions), mustExist: true })
}
