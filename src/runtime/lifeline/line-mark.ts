/**
 * The socket that a line is held by: where it is, and which one it is, should there be another at that place.
 */
export interface LineMark {
  readonly kernel: string
  readonly device: string
  readonly inode: string
  readonly path: string
}

/** In printable ASCII without spaces. */
export function writtenMark({ kernel, device, inode, path }: LineMark): string {
  return [FORM, kernel, device, inode, path].map(encodeURIComponent).join(":")
}

/** Undefined when it is of another form. */
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
