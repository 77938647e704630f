/** An operation that ends when a signal is aborted. */
interface Abortable {
  aborted(signal: AbortSignal): void
}

/**
 * Notifies `waiting` when the signal is aborted. All share one listener per signal: thousands of asks may
 * share the signal of one request, and Node warns of a leak at the eleventh listener.
 */
export function onAbort(signal: AbortSignal, waiting: Abortable): void {
  const fan = fans.get(signal)
  if (fan !== undefined) {
    fan.waiting.add(waiting)
    return
  }
  const all = new Set([waiting])
  const listener = () => {
    for (const one of [...all]) one.aborted(signal)
  }
  signal.addEventListener("abort", listener, { once: true })
  fans.set(signal, { waiting: all, listener })
}

export function offAbort(signal: AbortSignal, waiting: Abortable): void {
  const fan = fans.get(signal)
  if (fan === undefined) return
  fan.waiting.delete(waiting)
  if (fan.waiting.size > 0) return
  signal.removeEventListener("abort", fan.listener)
  fans.delete(signal)
}

interface Fan {
  readonly waiting: Set<Abortable>
  readonly listener: () => void
}

const fans = new WeakMap<AbortSignal, Fan>()
