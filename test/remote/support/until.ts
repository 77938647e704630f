const waiting = new Set<() => void>()
let isNoticed = false

/**
 * Resolves once `done` says so, and rejects with what was waited for if it has not within `deadlineMs`. It is asked when
 * notice is given, and not in between: by events that a `WatchedNode` or a peer records, by what is added to a
 * `recorded` list, or by the test itself.
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
    timer = setTimeout(() => reject(new Error(`waited ${deadlineMs} ms in vain until ${what}`)), deadlineMs)
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

/** Something has happened that a test may wait for. All that happens in one turn of the event loop is looked at once. */
export function notice(): void {
  if (isNoticed) return
  isNoticed = true
  setImmediate(() => {
    isNoticed = false
    for (const look of waiting) look()
  })
}

/** A list that gives notice of what is added to it. */
export function recorded<Item>(): Item[] {
  const items: Item[] = []
  const push = (...added: readonly Item[]) => {
    for (const item of added) items[items.length] = item
    notice()
    return items.length
  }
  return Object.defineProperty(items, "push", { value: push })
}
