import type { BigIntStats } from "node:fs"
import { lstat, mkdir, statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"

/** Returns the directory of the lines of this user. */
export function userLines(): string {
  return join(tmpdir(), `troupe-${process.geteuid?.()}`)
}

/** Creates the directory if it does not exist. Returns why no line can be held in it, if so. */
export async function flawOfDirectory(directory: string): Promise<string | undefined> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch {
    // An existing directory is checked like a new one.
  }
  if (!(await isOurs(directory))) {
    return `${directory} must be a directory that only this user can write to; set TMPDIR to a directory where that is possible`
  }
  if (!(await isLocal(directory))) {
    return `${directory} must be on a file system that is known to be local; set TMPDIR to a directory on one`
  }
  return undefined
}

/** Returns why a line cannot have this path, if so. */
export function flawOfPath(path: string): string | undefined {
  if (isLinePath(path)) return undefined
  if (resolve(path) !== path)
    return `the path of the socket must be absolute (got ${path}); set TMPDIR to an absolute path`
  return `the path of the socket must have at most ${MAX_PATH_BYTES} bytes (got ${path}); set TMPDIR to a shorter path`
}

/** Whether it is a directory in which only this user and root can create, move or remove files. */
export async function isOurs(directory: string): Promise<boolean> {
  const found = await looked(directory)
  if (found === undefined || !found.isDirectory()) return false
  return found.uid === BigInt(process.geteuid?.() ?? -1) && (found.mode & 0o022n) === 0n
}

/** Returns the status of the file itself, also if it is a link; undefined if it cannot be read. */
export async function looked(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true })
  } catch {
    return undefined
  }
}

/**
 * Returns the path that a line has once its holder listens (`held`), and the path before that (`fresh`), by
 * which it is not mistaken for a dead line.
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

/** Systems accept at least 103 bytes, and Node silently truncates a longer path. */
function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES && !path.includes("\0")
}

const MAX_PATH_BYTES = 100

/**
 * On a file system that is shared or served by another process, the kernel may see a file change its identity
 * while a socket is bound to it. So lines are only held on file systems that are known not to do that.
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
