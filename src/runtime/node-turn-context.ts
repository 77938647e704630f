import { AsyncLocalStorage } from "node:async_hooks"
import type { TurnContext } from "../ports/turn-context.js"

/** By Node's own storage, which slows every await of the process down from when it is first used. */
export function nodeTurnContext(): TurnContext {
  let storage: AsyncLocalStorage<object> | undefined
  return {
    run: (turn, task) => {
      storage ??= new AsyncLocalStorage()
      return storage.run(turn, task)
    },
    current: () => storage?.getStore(),
  }
}
