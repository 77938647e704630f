import { realpathSync, utimesSync, watch } from "node:fs"
import { nodeClock } from "../../runtime/node-clock.js"

/**
 * Tells other processes that the log of a store has grown: the process that committed sets the time of the
 * `-shm` file, and the operating system reports this to the processes that watch the file.
 *
 * A watch on the `-wal` itself would come too early. SQLite writes it before the flush, and makes the commit
 * visible only afterwards, through memory that it shares, which nothing reports. It would also report saves
 * and checkpoints, which no watch is interested in.
 *
 * A notice is a hint. One that is lost, because the process was killed after its commit or the file system
 * does not report changes, costs the time until watches look by themselves.
 */
export class LogNotice {
  readonly #path: string

  constructor(file: string) {
    this.#path = `${realpathSync(file)}-shm`
  }

  /** Called once the commit is visible. */
  give(): void {
    const seconds = nodeClock.wallMs() / 1_000
    try {
      // By its name: closing a descriptor of the file would release the locks that this process has on it.
      utimesSync(this.#path, seconds, seconds)
    } catch {
      // The file belongs to another user, or was removed, which is found by the next request.
    }
  }

  /**
   * Calls `noticed` after each notice, also one of this process, and `lost` if there will be no more. Returns
   * undefined if the system cannot watch the file.
   */
  watch(noticed: () => void, lost: () => void): { close(): void } | undefined {
    try {
      return watch(this.#path, { persistent: false }, noticed).on("error", lost)
    } catch {
      return undefined
    }
  }
}
