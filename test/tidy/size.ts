import type { Finding } from "./check.js"
import type { Source } from "./source.js"

const MOST_LINES = 400
const MOST_COLUMNS = 110

/** Finds files that are too long to have a single subject. */
export function* longFile({ text }: Source): Generator<Finding> {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0)
  if (lines <= MOST_LINES) return
  const advice = `Split the file by subject: it has ${lines} lines, and at most ${MOST_LINES} are allowed.`
  yield { at: 0, rule: "file-length", advice }
}

/** Finds comments that are too wide. The formatter limits the width of code only. */
export function* wideComments({ text, comments }: Source): Generator<Finding> {
  for (const { start, end } of comments) {
    let at = text.lastIndexOf("\n", start) + 1
    for (const line of text.slice(at, end).split("\n")) {
      if (line.length > MOST_COLUMNS) {
        yield { at, rule: "comment-width", advice: `Wrap the comment at ${MOST_COLUMNS} columns.` }
      }
      at += line.length + 1
    }
  }
}
