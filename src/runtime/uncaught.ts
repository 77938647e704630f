/**
 * Redirects uncaught errors from the existing listeners to `handler`, until the returned function is called.
 */
export function captureUncaught(handler: (error: unknown) => void): () => void {
  const listener = (error: unknown) => handler(error)
  const kept = events.map(
    (event) => [event, process.rawListeners(event) as ((error: unknown) => void)[]] as const,
  )
  for (const event of events) {
    process.removeAllListeners(event)
    process.on(event as "uncaughtException", listener)
  }
  return () => {
    for (const [event, listeners] of kept) {
      process.removeAllListeners(event)
      for (const one of listeners) process.on(event as "uncaughtException", one)
    }
  }
}

const events = ["uncaughtException", "unhandledRejection"] as const
