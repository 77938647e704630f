import { type BigIntStats, readlinkSync, realpathSync } from "node:fs"
import { dirname, isAbsolute, join, parse, sep } from "node:path"
import type { StoreUnavailableError } from "../../errors/store-errors.js"
import { ownStatusOf, statusOf } from "./file-status.js"
import { isMountPoint } from "./mount-points.js"
import { refusal } from "./problem.js"

/**
 * Checks for ways in which the store could be changed without its knowledge: by another user, or by a process
 * that reaches the file under another name.
 *
 * SQLite derives the names of the log and the shared memory of a file from the name of the file. A second
 * name, be it a hard link or a mount of that one file, has a second log and a second set of locks, and two
 * processes that each use one of them do not see each other. A symbolic link does no harm, since SQLite
 * resolves it; but a user who may replace the link determines which file the store is.
 */
export function problemWithTrust(file: string): StoreUnavailableError | undefined {
  const found = statusOf(file)
  if (found === undefined && ownStatusOf(file)?.isSymbolicLink()) {
    return refusal("unsafe", `the store ${file} is a symbolic link without a target; choose a file`)
  }
  return problemWithLinks(file) ?? (found && problemWithFile(file, found)) ?? problemBeside(file)
}

/**
 * Returns the warning for a file that may be used although its group may write to it. Refusing it would be
 * safer, but would keep every node from starting on a volume whose files are given to a group when it is
 * mounted, as Kubernetes does for an fsGroup.
 */
export function warningOfGroup(file: string): string | undefined {
  const status = statusOf(file)
  if (status === undefined || !isWritableByGroup(status)) return undefined
  return `the file of a SQLite store has mode ${modeOf(status)}: members of group ${status.gid} can change the store; run chmod g-w on it if that is not intended`
}

function problemWithLinks(file: string): StoreUnavailableError | undefined {
  for (const link of linksOnTheWay(file)) {
    const folder = statusOf(dirname(link))
    if (folder === undefined || (isTrusted(folder) && !isWritableByOthers(folder))) continue
    const place = `which is in a folder that others may write to (user ${folder.uid}, mode ${modeOf(folder)})`
    return refusal(
      "unsafe",
      `the store ${file} is reached through the symbolic link ${link}, ${place}; use the path of the file itself`,
    )
  }
  return undefined
}

function problemWithFile(file: string, found: BigIntStats): StoreUnavailableError | undefined {
  const access = problemWithAccess(file, found)
  if (access !== undefined) return access
  if (found.nlink > 1n) {
    const what = `has ${found.nlink} names (hard links), and each would have its own log`
    return refusal(
      "unsafe",
      `the store ${file} ${what}; remove the others, and share the folder or use a symbolic link instead`,
    )
  }
  if (!isMountPoint(realpathSync(file))) return undefined
  const what = "is mounted by itself, and each mount would have its own log"
  return refusal("unsafe", `the store ${file} ${what}; mount the folder that it is in`)
}

/** Checks the files that SQLite would read or write together with the file. */
function problemBeside(file: string): StoreUnavailableError | undefined {
  for (const end of ["-wal", "-shm", "-journal"]) {
    const name = `${statusOf(file) === undefined ? file : realpathSync(file)}${end}`
    const status = ownStatusOf(name)
    if (status?.isSymbolicLink()) {
      return refusal("unsafe", `the store's file ${name} is a symbolic link; remove it`)
    }
    const problem = status && problemWithAccess(name, status)
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemWithAccess(name: string, status: BigIntStats): StoreUnavailableError | undefined {
  if (!isTrusted(status)) {
    const what = `belongs to user ${status.uid}, and this process runs as user ${process.geteuid?.()}`
    const advice = `run the process as that user, or change the owner (chown ${process.geteuid?.()} ${name}) if you trust the file`
    return refusal("unsafe", `the store's file ${name} ${what}; ${advice}`)
  }
  const isByGroup = isWritableByGroup(status) && !isOwnGroup(status)
  if (!isWritableByAll(status) && !isByGroup) return undefined
  const group = isByGroup ? ` (group ${status.gid}, which this process is not in)` : ""
  const what = `has mode ${modeOf(status)}, so that others may write to it${group}`
  return refusal(
    "unsafe",
    `the store's file ${name} ${what}; check that nobody did, and remove the permission (chmod go-w ${name})`,
  )
}

/** Whether the owner is this user or root. Systems without users trust every owner. */
function isTrusted({ uid }: BigIntStats): boolean {
  const user = process.geteuid?.()
  return user === undefined || uid === BigInt(user) || uid === 0n
}

function isWritableByOthers(status: BigIntStats): boolean {
  return isWritableByGroup(status) || isWritableByAll(status)
}

function isWritableByGroup({ mode }: BigIntStats): boolean {
  return process.geteuid !== undefined && (mode & 0o020n) !== 0n
}

function isWritableByAll({ mode }: BigIntStats): boolean {
  return process.geteuid !== undefined && (mode & 0o002n) !== 0n
}

function isOwnGroup({ gid }: BigIntStats): boolean {
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])]
  return groups.includes(Number(gid))
}

function modeOf({ mode }: BigIntStats): string {
  return `0${(mode & 0o7777n).toString(8)}`
}

/** Returns all symbolic links that have to be followed to get to a file. */
function linksOnTheWay(file: string): readonly string[] {
  const links: string[] = []
  const { root } = parse(file)
  let at = root
  const rest = file.slice(root.length).split(sep)
  // As many as Linux follows.
  while (rest.length > 0 && links.length < 40) {
    const next = join(at, rest.shift() as string)
    if (!ownStatusOf(next)?.isSymbolicLink()) {
      at = next
      continue
    }
    links.push(next)
    const target = readlinkSync(next)
    if (isAbsolute(target)) at = root
    rest.unshift(...target.split(sep).filter((part) => part !== ""))
  }
  return links
}
