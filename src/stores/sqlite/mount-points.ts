import { readFileSync } from "node:fs"

/**
 * Whether something is mounted at exactly this path, which contains no symbolic links. Only Linux reports
 * this.
 */
export function isMountPoint(path: string): boolean {
  try {
    return mountPointsIn(readFileSync("/proc/self/mountinfo", "utf8")).has(path)
  } catch {
    return false
  }
}

/** Parses `/proc/self/mountinfo`, where the fifth field of a line is the mount point. */
export function mountPointsIn(text: string): ReadonlySet<string> {
  const points = text.split("\n").map((line) => line.split(" ")[4])
  return new Set(points.filter((point) => point?.startsWith("/")).map((point) => unescaped(point as string)))
}

/** Blanks, line ends and backslashes are written as three octal digits. */
function unescaped(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
