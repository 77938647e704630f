import type { AmbientWorld } from "./ambient-world.js"
import { WorldTimeout } from "./timer-handles.js"

interface Ticks {
  readonly world: AmbientWorld
  readonly delayMs: number | undefined
  readonly value: unknown
  readonly signal: AbortSignal | undefined
  /** Rejects with the error for an aborted signal. */
  aborted(): Promise<unknown>
}

/**
 * Yields `value` at every tick of an interval. Ticks that come faster than they are taken wait, and none is
 * lost.
 */
export async function* ticksOf({ world, delayMs, value, signal, aborted }: Ticks): AsyncGenerator<unknown> {
  let waiting = 0
  let wake = () => {}
  const run = () => {
    waiting++
    wake()
  }
  const handle = new WorldTimeout(world, { delayMs, repeats: true, run })
  const stop = () => {
    handle.close()
    wake()
  }
  signal?.addEventListener("abort", stop, { once: true })
  try {
    while (true) {
      for (; waiting > 0; waiting--) yield value
      if (signal?.aborted) await aborted()
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    handle.close()
    signal?.removeEventListener("abort", stop)
  }
}
