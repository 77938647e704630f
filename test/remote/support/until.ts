const waiting = new Set<() => void>()
let isNoticed = false

/**
 * Resolves once `done` returns true, and rejects with the name of the condition after `deadlineMs`. `done` is called on
 * notification and not in between: for events that a `WatchedNode` or a peer records, for items added to a `recorded`
 * list, or by the test itself.
 */
export async function until(what: string, done: () => boolean, deadlineMs = 15_000): Promise<void> {
  let look = () => {}
  let timer: NodeJS.Timeout | undefined
  const isDone = new Promise<void>((resolve, reject) => {
    look = () => {
      try {
        if (done()) resolve()
      } catch (error) {
        reject(error)
      }
    }
    timer = setTimeout(() => reject(new Error(`timed out after ${deadlineMs} ms: ${what}`)), deadlineMs)
  })
  waiting.add(look)
  try {
    look()
    await isDone
  } finally {
    clearTimeout(timer)
    waiting.delete(look)
  }
}

/** Notifies all waiting tests, once for all notifications of one turn of the event loop. */
export function notice(): void {
  if (isNoticed) return
  isNoticed = true
  setImmediate(() => {
    isNoticed = false
    for (const look of waiting) look()
  })
}

/** A list that notifies when an item is added. */
export function recorded<Item>(): Item[] {
  const items: Item[] = []
  const push = (...added: readonly Item[]) => {
    for (const item of added) items[items.length] = item
    notice()
    return items.length
  }
  return Object.defineProperty(items, "push", { value: push })
}
