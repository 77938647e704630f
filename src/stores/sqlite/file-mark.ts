import { type BigIntStats, statSync, utimesSync } from "node:fs"
import { sleep } from "./sleep.js"

/**
 * What tells a file from a copy of it: its inode, and when that was made. The inode alone would not do, for a
 * file system gives the number of one that was removed to the next one that is made, and restoring a backup
 * is often just that. It is written into the file, so a file that bears another's mark is a copy.
 *
 * Some systems do not know when a file was made and say when it was last changed instead. There the inode has
 * to do.
 */
export function newMark(file: string): string {
  const made = status(file)
  if (made.birthtimeNs === made.ctimeNs) {
    // The clock of a file system may tick every few milliseconds only.
    sleep(20)
    utimesSync(file, made.atime, made.mtime)
  }
  const touched = status(file)
  return touched.birthtimeNs === touched.ctimeNs ? `${touched.ino}` : fullMark(touched)
}

export function bearsMark(file: string, mark: string): boolean {
  const found = status(file)
  return mark === (mark.includes("-") ? fullMark(found) : `${found.ino}`)
}

function fullMark({ ino, birthtimeNs }: BigIntStats): string {
  return `${ino}-${birthtimeNs}`
}

function status(file: string): BigIntStats {
  return statSync(file, { bigint: true })
}
