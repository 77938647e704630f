import { compileTexts } from "./compiler.js"

/**
 * What is wrong with files whose every `// @ts-expect-error TS1234: why` says what must not compile.
 *
 * By itself the compiler takes any error for the expected one, a misspelt name for instance. So the directives are made
 * plain comments, and the errors that then come up must be those that were named, no more and no fewer.
 */
export async function complaintsAbout(texts: Readonly<Record<string, string>>): Promise<string[]> {
  const bare = Object.entries(texts).map(([file, text]) => [file, text.replaceAll("@ts-expect-error", "")])
  const found = new Map<string, string>()
  for (const { file, line, code, message } of await compileTexts(Object.fromEntries(bare))) {
    found.set(`${file}:${line} ${code}`, `${file}:${line} ${code}: ${message}`)
  }
  const complaints = Object.entries(texts).flatMap(([file, text]) =>
    text.split("\n").flatMap((comment, index) => {
      if (!comment.includes("@ts-expect-error")) return []
      const [, code] = /\/\/ @ts-expect-error (TS\d+): \S/.exec(comment) ?? []
      if (code === undefined) return [`${file}:${index + 1} says neither which error it expects nor why`]
      return found.delete(`${file}:${index + 2} ${code}`)
        ? []
        : [`${file}:${index + 2} compiles without ${code}`]
    }),
  )
  return [...complaints, ...found.values()]
}
