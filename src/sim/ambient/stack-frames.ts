import { fileURLToPath } from "node:url"

/** One frame of a stack. */
interface StackFrame {
  /** A path, or the name of one of Node's modules, which begins with `node:`. */
  readonly file: string
  readonly line: string
}

/** Reads the frames from the text of a stack, to which source maps have been applied. */
export function framesIn(stack: string): StackFrame[] {
  return stack.split("\n").flatMap((text) => {
    const [, file, line] = /^\s*at .*?\(?((?:[a-z]{2,}:|\/|[A-Za-z]:\\).*):(\d+):\d+\)?$/.exec(text) ?? []
    if (file === undefined || line === undefined) return []
    return [{ file: file.startsWith("file:") ? fileURLToPath(file) : file, line }]
  })
}
