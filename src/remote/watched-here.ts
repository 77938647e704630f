import type { InternalRef, Watcher } from "../actor/internal-ref.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { MAX_WATCHES } from "./frames.js"

interface Watched {
  readonly ref: InternalRef<never>
  readonly watcher: Watcher
}

/** The actors of this node that a peer watches, by the number that the peer has assigned. */
export class WatchedHere {
  readonly #byNumber = new Map<number, Watched>()
  readonly #ended: (number: number, cause: unknown) => void

  constructor(ended: (number: number, cause: unknown) => void) {
    this.#ended = ended
  }

  /** Adds a watch; an actor that is gone ends it at once. False if the limit is reached. */
  add(number: number, ref: InternalRef<never>): boolean {
    if (this.#byNumber.has(number)) throw new MalformedBytesError(`watch ${number} already exists`)
    if (this.#byNumber.size >= MAX_WATCHES) return false
    const watcher: Watcher = {
      terminated: ({ cause }) => {
        this.#byNumber.delete(number)
        this.#ended(number, cause)
      },
    }
    this.#byNumber.set(number, { ref, watcher })
    ref.addWatcher(watcher)
    return true
  }

  remove(number: number): void {
    const watched = this.#byNumber.get(number)
    this.#byNumber.delete(number)
    watched?.ref.removeWatcher(watched.watcher)
  }

  clear(): void {
    for (const number of [...this.#byNumber.keys()]) this.remove(number)
  }
}
