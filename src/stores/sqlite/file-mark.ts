import { type BigIntStats, statSync, utimesSync } from "node:fs"
import { sleep } from "./sleep.js"

/**
 * Returns a mark that distinguishes a file from its copies: its inode, and the inode's creation time. The
 * inode number alone does not suffice, because file systems reuse the number of a removed file for the next
 * one, and restoring a backup often does just that. The mark is written into the file, so a file that
 * contains another file's mark is a copy.
 *
 * Some systems do not record the creation time and report the time of the last change instead. There only the
 * inode number is used.
 */
export function newMark(file: string): string {
  const made = status(file)
  if (made.birthtimeNs === made.ctimeNs) {
    // The clock of a file system may advance only every few milliseconds.
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

/** In milliseconds, because Deno reports no fraction of them. */
function fullMark({ ino, birthtimeMs }: BigIntStats): string {
  return `${ino}-${birthtimeMs}`
}

function status(file: string): BigIntStats {
  return statSync(file, { bigint: true })
}
