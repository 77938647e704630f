import { AsyncLocalStorage } from "node:async_hooks"
import type { TurnContext } from "../ports/turn-context.js"

/**
 * By Node's own storage, which slows every await of the process down from when it is first used. There is one
 * for the whole process: Node copies all that there ever were at every promise.
 */
export const nodeTurnContext: TurnContext = {
  run(turn, task) {
    storage ??= new AsyncLocalStorage()
    return storage.run(turn, task)
  },
  current: () => storage?.getStore(),
}

let storage: AsyncLocalStorage<object> | undefined
