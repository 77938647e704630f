import { compileTexts, type Diagnostic } from "./compiler.js"

/**
 * Checks files in which every `// @ts-expect-error TS1234: why` marks a line that must not compile.
 *
 * The compiler alone accepts any error as the expected one, a misspelt name for instance. So the directives
 * are turned into plain comments, and the errors that the compiler then reports must be exactly those named.
 */
export async function complaintsAbout(texts: Readonly<Record<string, string>>): Promise<string[]> {
  return unexpectedOf(texts, await compileTexts(withoutDirectives(texts)))
}

/** Returns the texts with their directives as plain comments. */
export function withoutDirectives(texts: Readonly<Record<string, string>>): Record<string, string> {
  const bare = Object.entries(texts).map(([file, text]) => [file, text.replaceAll("@ts-expect-error", "")])
  return Object.fromEntries(bare)
}

/** Compares what a compiler reports about the texts without their directives with what they expect. */
export function unexpectedOf(
  texts: Readonly<Record<string, string>>,
  diagnostics: readonly Diagnostic[],
): string[] {
  const found = new Map<string, string>()
  for (const { file, line, code, message } of diagnostics) {
    found.set(`${file}:${line} ${code}`, `${file}:${line} ${code}: ${message}`)
  }
  const complaints = Object.entries(texts).flatMap(([file, text]) =>
    text.split("\n").flatMap((comment, index) => {
      if (!comment.includes("@ts-expect-error")) return []
      const [, code] = /\/\/ @ts-expect-error (TS\d+): \S/.exec(comment) ?? []
      if (code === undefined) return [`${file}:${index + 1} must name the expected error code and the reason`]
      return found.delete(`${file}:${index + 2} ${code}`)
        ? []
        : [`${file}:${index + 2} compiles without ${code}`]
    }),
  )
  return [...complaints, ...found.values()]
}
