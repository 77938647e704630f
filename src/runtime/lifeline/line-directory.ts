import type { BigIntStats } from "node:fs"
import { lstat, mkdir, statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"

/** Where the lines of this user are. */
export function userLines(): string {
  return join(tmpdir(), `troupe-${process.geteuid?.()}`)
}

/** Makes it if it is not there, and says why no line can be held in it, if that is so. */
export async function flawOfDirectory(directory: string): Promise<string | undefined> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch {
    // What is there already is looked at like what was just made.
  }
  if (!(await isOurs(directory))) {
    return `${directory} is no folder of this user's that nobody else can write to; set TMPDIR to one where it can be`
  }
  if (!(await isLocal(directory))) {
    return `${directory} is on a file system that is not known to be local; set TMPDIR to a folder on another`
  }
  return undefined
}

/** Why a line cannot have this path, if that is so. */
export function flawOfPath(path: string): string | undefined {
  if (isLinePath(path)) return undefined
  if (resolve(path) !== path) return `${path} is no absolute path; set TMPDIR to one`
  return `the path of its socket has more than ${MAX_PATH_BYTES} bytes (${path}); set TMPDIR to a shorter one`
}

/** Whether it is a directory in which nobody else, except for root, can put, move or remove anything. */
export async function isOurs(directory: string): Promise<boolean> {
  const found = await looked(directory)
  if (found === undefined || !found.isDirectory()) return false
  return found.uid === BigInt(process.geteuid?.() ?? -1) && (found.mode & 0o022n) === 0n
}

/** The file itself, also if it is a link. Undefined when it cannot be looked at. */
export async function looked(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true })
  } catch {
    return undefined
  }
}

/**
 * The name that a line gets once somebody listens. Until then it has another, so that it is not taken for a
 * dead one.
 */
export function linePath(directory: string, id: string): { readonly fresh: string; readonly held: string } {
  return { fresh: join(directory, `${id}.new`), held: join(directory, id) }
}

export function isLinePath(path: string): boolean {
  return (
    resolve(path) === path &&
    isLineName(basename(path)) &&
    fits(linePath(dirname(path), basename(path)).fresh)
  )
}

export function isLineName(name: string): boolean {
  return /^[0-9a-f]{20}$/.test(name)
}

/** Systems take 103 bytes or more, and Node cuts off what is too long without a word. */
function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES && !path.includes("\0")
}

const MAX_PATH_BYTES = 100

/**
 * On a file system that is shared or served by another process one file may become another in the eyes of the
 * kernel while a socket is bound to it. So only kinds that are known not to do that are used: where they are
 * not, there are no lines.
 */
async function isLocal(directory: string): Promise<boolean> {
  if (process.platform !== "linux") return true
  try {
    return LOCAL.has((await statfs(directory)).type >>> 0)
  } catch {
    return false
  }
}

const LOCAL: ReadonlySet<number> = new Set([
  0x0000ef53, // ext2 to ext4
  0x01021994, // tmpfs
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x794c7630, // overlay
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
])
