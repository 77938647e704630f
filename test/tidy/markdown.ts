import type { SourceFile, Violation } from "./check.js"

const MOST_COLUMNS = 100

/**
 * Finds lines of Markdown that are too wide. Code blocks may have any width, and so may a line that is one word, such as
 * a link: it cannot be wrapped. A table row that is too wide has to become a list.
 */
export function wideMarkdown(files: readonly SourceFile[]): Violation[] {
  return files.flatMap(wideLines)
}

function wideLines({ path, text }: SourceFile): Violation[] {
  const violations: Violation[] = []
  let fence: string | undefined
  for (const [index, line] of text.split("\n").entries()) {
    const marker = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== undefined) {
      if (marker?.startsWith(fence) === true && line.trim() === marker) fence = undefined
    } else if (marker !== undefined) {
      fence = marker
    } else if (line.length > MOST_COLUMNS && !isOneWord(line)) {
      violations.push({ file: path, line: index + 1, rule: "markdown-width", advice: adviceFor(line) })
    }
  }
  return violations
}

/** A line without a space after its indentation and its list marker. */
function isOneWord(line: string): boolean {
  return /^\s*(?:(?:[-*+]|\d+\.)\s+)?\S+$/.test(line)
}

function adviceFor(line: string): string {
  return line.startsWith("|")
    ? `Shorten the row to ${MOST_COLUMNS} columns, or turn the table into a list.`
    : `Wrap the line at ${MOST_COLUMNS} columns.`
}
