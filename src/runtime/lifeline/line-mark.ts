/**
 * Identifies the socket of a line: its path, and its device and inode, since another file may have that path.
 */
export interface LineMark {
  readonly kernel: string
  readonly device: string
  readonly inode: string
  readonly path: string
}

/** Formats a mark in printable ASCII without spaces. */
export function writtenMark({ kernel, device, inode, path }: LineMark): string {
  return [FORM, kernel, device, inode, path].map(encodeURIComponent).join(":")
}

/** Parses a mark; undefined if it is malformed. */
export function readMark(text: string): LineMark | undefined {
  const [form, kernel, device, inode, path, ...rest] = text.split(":").map(decoded)
  if (form !== FORM || rest.length > 0) return undefined
  if (kernel === undefined || device === undefined || inode === undefined || path === undefined)
    return undefined
  return { kernel, device, inode, path }
}

const FORM = "socket"

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
