import { type BigIntStats, readlinkSync, realpathSync } from "node:fs"
import { dirname, isAbsolute, join, parse, sep } from "node:path"
import type { StoreUnavailableError } from "../../errors/store-errors.js"
import { ownStatusOf, statusOf } from "./file-status.js"
import { isMountPoint } from "./mount-points.js"
import { refusal } from "./problem.js"

/**
 * What would let the store be changed without its knowledge: by another user, or by a process that reaches
 * the file another way.
 *
 * SQLite finds the log and the shared memory of a file by the file's name. A second name, be it a hard link
 * or a mount of that one file, has a second log and a second set of locks, and two processes that each use
 * one of them see nothing of each other. A symbolic link does no harm, since SQLite resolves it; but whoever
 * may replace it decides which file the store is.
 */
export function problemWithTrust(file: string): StoreUnavailableError | undefined {
  const found = statusOf(file)
  if (found === undefined && ownStatusOf(file)?.isSymbolicLink()) {
    return refusal("unsafe", `the store ${file} is a symbolic link that leads nowhere; name a file`)
  }
  return problemWithLinks(file) ?? (found && problemWithFile(file, found)) ?? problemBeside(file)
}

/**
 * What to say of a file that may be used though its group may write to it. To refuse it would be safer, and
 * keep every node from starting on a volume whose files are given to a group when it is mounted, as
 * Kubernetes does for an fsGroup.
 */
export function warningOfGroup(file: string): string | undefined {
  const status = statusOf(file)
  if (status === undefined || !isWritableByGroup(status)) return undefined
  return `the file of a SQLite store has mode ${modeOf(status)}: members of group ${status.gid} can change the store; chmod g-w it if they are not to`
}

function problemWithLinks(file: string): StoreUnavailableError | undefined {
  for (const link of linksOnTheWay(file)) {
    const folder = statusOf(dirname(link))
    if (folder === undefined || (isTrusted(folder) && !isWritableByOthers(folder))) continue
    const place = `which is in a folder that others may write to (user ${folder.uid}, mode ${modeOf(folder)})`
    return refusal(
      "unsafe",
      `the store ${file} is reached by the symbolic link ${link}, ${place}; name the file itself`,
    )
  }
  return undefined
}

function problemWithFile(file: string, found: BigIntStats): StoreUnavailableError | undefined {
  const access = problemWithAccess(file, found)
  if (access !== undefined) return access
  if (found.nlink > 1n) {
    const what = `has ${found.nlink} names (hard links), and each would have a log of its own`
    return refusal(
      "unsafe",
      `the store ${file} ${what}; remove the others, and share the folder or use a symbolic link`,
    )
  }
  if (!isMountPoint(realpathSync(file))) return undefined
  const what = "is mounted by itself, and each mount would have a log of its own"
  return refusal("unsafe", `the store ${file} ${what}; mount the folder that it is in`)
}

/** What SQLite would read, or write to, together with the file. */
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
    const advice = `run it as that user, or make the file its own (chown ${process.geteuid?.()} ${name}) if you trust it`
    return refusal("unsafe", `the store's file ${name} ${what}; ${advice}`)
  }
  const isByGroup = isWritableByGroup(status) && !isOwnGroup(status)
  if (!isWritableByAll(status) && !isByGroup) return undefined
  const group = isByGroup ? ` (group ${status.gid}, which this process is not in)` : ""
  const what = `has mode ${modeOf(status)}, so that others may write to it${group}`
  return refusal(
    "unsafe",
    `the store's file ${name} ${what}; see that nobody did, and take that away (chmod go-w ${name})`,
  )
}

/** Its owner is this user, or root, who can do as they please anyway. Systems without users trust. */
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

/** All symbolic links that have to be followed to get to a file. */
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
