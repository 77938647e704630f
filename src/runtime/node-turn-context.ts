import { AsyncLocalStorage } from "node:async_hooks"
import type { TurnContext } from "../ports/turn-context.js"

/**
 * Uses Node's AsyncLocalStorage, which slows down every await of the process from its first use. There is one
 * for the whole process, since Node copies all storages that were ever used at every promise.
 */
export const nodeTurnContext: TurnContext = {
  run(turn, task) {
    storage ??= new AsyncLocalStorage()
    return storage.run(turn, task)
  },
  current: () => storage?.getStore(),
}

let storage: AsyncLocalStorage<object> | undefined
