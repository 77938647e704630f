import { parseSync } from "oxc-parser"

/** `path` is relative to the project, with `/` between its parts. */
export interface Document {
  readonly path: string
  readonly text: string
}

export interface Example {
  readonly document: string
  /** The line of its first line of code, counted from 1. */
  readonly line: number
  /** The code at the same lines and columns as in its document, with nothing else around it. */
  readonly text: string
  /**
   * Whether the fence says `fragment`: code for something else than Troupe, or a part of a program. It is parsed, and
   * not compiled.
   */
  readonly isFragment: boolean
}

/**
 * Returns every fenced block of TypeScript or JavaScript in a Markdown text or in the doc comments of a
 * source. After an `@example` without fences, everything up to the next tag is code.
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
    return {
      line: before.split("\n").length,
      text: before + comment.slice(start, end).trimEnd(),
      isFragment: false,
    }
  })
}

const languages = new Set(["ts", "typescript", "mts", "js", "javascript", "mjs"])

function fencedIn(prose: string): Omit<Example, "document">[] {
  const examples: Omit<Example, "document">[] = []
  let open: { readonly fence: string; readonly line: number; readonly code: string[] } | undefined
  const close = () => {
    if (open !== undefined && languages.has(languageOf(open.fence))) {
      examples.push({
        line: open.line,
        text: "\n".repeat(open.line - 1) + open.code.join("\n"),
        isFragment: /\sfragment\b/.test(open.fence),
      })
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

/** A fence is closed by one of the same character, at least as long, on a line of its own. */
function closes(fence: string, line: string): boolean {
  const ticks = /^(`+|~+)/.exec(fence)?.[0] ?? fence
  return line.startsWith(ticks) && line.replaceAll(ticks.charAt(0), "") === ""
}

/**
 * Returns each doc comment at its position, with everything except its text replaced by blanks, including its
 * stars.
 */
function commentsIn(path: string, text: string): string[] {
  return parseSync(path, text)
    .comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .map(({ value, start }) => `${blank(text.slice(0, start))}  ${value.replace(/^[^\S\n]*\*/gm, blank)}`)
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ")
}
