import { ambientUses } from "./ambient.js"
import { focusedTests } from "./focus.js"
import { folderOf } from "./folders.js"
import { forbiddenImports } from "./imports.js"
import { vagueNames } from "./names.js"
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
  | "folder"
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
  | "markdown-width"
  | "doc-comment"

export interface Violation {
  readonly file: string
  readonly line: number
  readonly rule: Rule
  /** A sentence that says how to fix it. */
  readonly advice: string
}

/** A violation at a character of the text, before its line is known. */
export interface Finding {
  readonly at: number
  readonly rule: Rule
  readonly advice: string
}

/**
 * Checks rules that no compiler checks: the direction of imports, the use of Node and its globals, names, and the
 * length of files and comments. All rules apply to files under `src`; to their tests and to other folders only `focus`
 * applies.
 *
 * Each file is checked by itself, without resolving scopes. A local variable with the name of a forbidden global is
 * therefore refused too, so that every use of such a name is a use of the global.
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
      advice: `Fix the syntax error, so that the file can be checked: ${source.broken.message}.`,
    }
    return
  }
  yield* focusedTests(source)
  if (!source.path.startsWith("src/") || source.path.endsWith(".test.ts")) return

  yield* vagueNames(source)
  yield* longFile(source)
  yield* wideComments(source)
  const folder = folderOf(source.path)
  if (folder === undefined) {
    yield {
      at: 0,
      rule: "folder",
      advice:
        "Move the file into a folder that is listed in test/tidy/folders.ts, or add the new folder to that list.",
    }
    return
  }
  yield* forbiddenImports(source, folder)
  if (folder.typesOnly) yield* runtimeCodeInTypes(source)
  if (!folder.usesNode) yield* ambientUses(source)
}
