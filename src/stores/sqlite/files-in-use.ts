import { realpathSync } from "node:fs"
import { inodeOf, statusOf } from "./file-status.js"

/**
 * The file of an open store and the two that SQLite has beside it, the log of commits (`-wal`) and its index
 * (`-shm`).
 *
 * SQLite goes on with what it has open, whatever the names lead to by now. If one of the three was moved,
 * removed or replaced, commits go where nobody who opens the store later finds them. All three are there for
 * as long as somebody has the store open: they come with the first transaction, a checkpoint changes neither
 * of them for another, and only the last to close the store removes the two.
 */
export class FilesInUse {
  readonly #names: readonly string[]
  readonly #inodes: readonly (string | undefined)[]

  /** Once there has been a transaction. */
  constructor(file: string) {
    // SQLite has them beside the file itself, not beside a symbolic link to it.
    const real = realpathSync(file)
    this.#names = [file, `${real}-wal`, `${real}-shm`]
    this.#inodes = this.#names.map((name) => inodeOf(statusOf(name)))
  }

  /** Whether the names still lead to what was opened, and the file has no other. */
  look(): "in-place" | "linked" | "moved" {
    let names = 1n
    for (const [index, name] of this.#names.entries()) {
      const status = statusOf(name)
      if (status === undefined || inodeOf(status) !== this.#inodes[index]) return "moved"
      if (index === 0) names = status.nlink
    }
    return names > 1n ? "linked" : "in-place"
  }
}
