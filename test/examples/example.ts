import { parseSync } from "oxc-parser"

/** `path` is relative to the project, with `/` between its parts. */
export interface Document {
  readonly path: string
  readonly text: string
}

export interface Example {
  readonly document: string
  /** The line, from 1, of its first line of code. */
  readonly line: number
  /** The code at the lines and columns that it has in its document, with nothing else around it. */
  readonly text: string
}

/**
 * Every fenced block of TypeScript, or of JavaScript, in a Markdown text or in the doc comments of a source. After an
 * `@example` without fences all is code, up to the next tag.
 */
export function examplesIn({ path, text }: Document): Example[] {
  const examples = path.endsWith(".md")
    ? fencedIn(text)
    : commentsIn(path, text).flatMap((comment) => [...fencedIn(comment), ...unfencedIn(comment)])
  return examples.map((example) => ({ document: path, ...example }))
}

function unfencedIn(comment: string): Omit<Example, "document">[] {
  const tags = comment.matchAll(
    /^[^\S\n]*@example\b(?!.*\n\s*(?:`{3}|~{3}))\s*(.*(?:\n(?![^\S\n]*@[a-z]).*)*)/dgm,
  )
  return [...tags].map(({ indices }) => {
    const [start, end] = indices?.[1] ?? [0, 0]
    const before = blank(comment.slice(0, start))
    return { line: before.split("\n").length, text: before + comment.slice(start, end).trimEnd() }
  })
}

const languages = new Set(["ts", "typescript", "mts", "js", "javascript", "mjs"])

function fencedIn(prose: string): Omit<Example, "document">[] {
  const examples: Omit<Example, "document">[] = []
  let open: { readonly fence: string; readonly line: number; readonly code: string[] } | undefined
  const close = () => {
    if (open !== undefined && languages.has(languageOf(open.fence))) {
      examples.push({ line: open.line, text: "\n".repeat(open.line - 1) + open.code.join("\n") })
    }
    open = undefined
  }
  for (const [index, line] of prose.split("\n").entries()) {
    if (open === undefined) {
      if (/^\s*(`{3}|~{3})/.test(line)) open = { fence: line.trim(), line: index + 2, code: [] }
    } else if (closes(open.fence, line.trim())) {
      close()
    } else {
      open.code.push(line)
    }
  }
  close()
  return examples
}

function languageOf(fence: string): string {
  return (/^[`~]+\s*(\w+)/.exec(fence)?.[1] ?? "").toLowerCase()
}

/** A fence is closed by one of the same sort, at least as long, that stands alone. */
function closes(fence: string, line: string): boolean {
  const ticks = /^(`+|~+)/.exec(fence)?.[0] ?? fence
  return line.startsWith(ticks) && line.replaceAll(ticks.charAt(0), "") === ""
}

/** Each doc comment at its place, with all that is not its text blanked out, its stars as well. */
function commentsIn(path: string, text: string): string[] {
  return parseSync(path, text)
    .comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .map(({ value, start }) => `${blank(text.slice(0, start))}  ${value.replace(/^[^\S\n]*\*/gm, blank)}`)
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ")
}
