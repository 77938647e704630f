import { ambientUses } from "./ambient.js"
import { focusedTests } from "./focus.js"
import { forbiddenImports } from "./imports.js"
import { vagueNames } from "./names.js"
import { roomOf } from "./rooms.js"
import { longFile, wideComments } from "./size.js"
import { parse, type Source } from "./source.js"
import { runtimeCodeInTypes } from "./types-only.js"

/** `path` is relative to the project, with `/` between its parts. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

export type Rule =
  | "syntax"
  | "room"
  | "import-direction"
  | "import-outside"
  | "import-builtin"
  | "import-package"
  | "import-computed"
  | "types-only"
  | "ambient"
  | "shadow"
  | "focus"
  | "file-name"
  | "class-name"
  | "export"
  | "file-length"
  | "comment-width"

export interface Violation {
  readonly file: string
  readonly line: number
  readonly rule: Rule
  /** A sentence that says what to do. */
  readonly advice: string
}

/** A violation before its place is known by line: `at` is a character of the text. */
export interface Finding {
  readonly at: number
  readonly rule: Rule
  readonly advice: string
}

/**
 * Holds the rules of the house that no compiler holds: which way imports point, who may touch the outside world,
 * what nothing may be called, and how long a file and a line of a comment may be. Files under `src` answer to all of them, their tests and other folders to `focus` only.
 *
 * It looks at one file at a time and resolves no scopes. That is why a local that has the name of a forbidden global is
 * itself refused: every use of such a name is then a use of the global.
 */
export function check(files: readonly SourceFile[]): Violation[] {
  return files.flatMap(checkFile)
}

function checkFile(file: SourceFile): Violation[] {
  const source = parse(file)
  return [...findingsIn(source)]
    .sort((a, b) => a.at - b.at)
    .map(({ at, rule, advice }) => ({ file: file.path, line: source.lineAt(at), rule, advice }))
}

function* findingsIn(source: Source): Generator<Finding> {
  if (source.broken !== undefined) {
    yield {
      at: source.broken.at,
      rule: "syntax",
      advice: `Make it parse, or nothing can be checked: ${source.broken.message}.`,
    }
    return
  }
  yield* focusedTests(source)
  if (!source.path.startsWith("src/") || source.path.endsWith(".test.ts")) return

  yield* vagueNames(source)
  yield* longFile(source)
  yield* wideComments(source)
  const room = roomOf(source.path)
  if (room === undefined) {
    yield {
      at: 0,
      rule: "room",
      advice:
        "Move the file into a room that test/tidy/rooms.ts knows, or give the new room its place there.",
    }
    return
  }
  yield* forbiddenImports(source, room)
  if (room.typesOnly) yield* runtimeCodeInTypes(source)
  if (!room.touchesTheWorld) yield* ambientUses(source)
}
