/** Growing pauses between attempts to connect. */
export class Backoff {
  #pauseMs = FIRST_MS
  #timer: NodeJS.Timeout | undefined
  #end: () => void = () => {}

  reset(): void {
    this.#pauseMs = FIRST_MS
  }

  /** Ends a pause. */
  cancel(): void {
    clearTimeout(this.#timer)
    this.#end()
  }

  /** The process does not stay for it: requests that wait have timers of their own. */
  async pause(): Promise<void> {
    const pauseMs = this.#pauseMs * (0.5 + Math.random())
    this.#pauseMs = Math.min(LONGEST_MS, this.#pauseMs * 2)
    await new Promise<void>((resolve) => {
      this.#end = resolve
      this.#timer = setTimeout(resolve, pauseMs)
      this.#timer.unref()
    })
  }
}

const FIRST_MS = 20
const LONGEST_MS = 1_000
