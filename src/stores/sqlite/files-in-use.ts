import { realpathSync } from "node:fs"
import { inodeOf, statusOf } from "./file-status.js"

/**
 * The file of an open store and the two that SQLite keeps beside it, the log of commits (`-wal`) and its
 * index (`-shm`).
 *
 * SQLite continues to use the files that it has open, even if their names lead elsewhere by now. If one of
 * the three was moved, removed or replaced, commits go to files that nobody who opens the store later finds.
 * All three exist for as long as any process has the store open: they are created with the first transaction,
 * a checkpoint does not replace them, and only the last process to close the store removes the two.
 */
export class FilesInUse {
  readonly #names: readonly string[]
  readonly #inodes: readonly (string | undefined)[]

  /** Called once there has been a transaction. */
  constructor(file: string) {
    // SQLite keeps them beside the file itself, not beside a symbolic link to it.
    const real = realpathSync(file)
    this.#names = [file, `${real}-wal`, `${real}-shm`]
    this.#inodes = this.#names.map((name) => inodeOf(statusOf(name)))
  }

  /** Whether the names still lead to the opened files, and the file has no second name. */
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
