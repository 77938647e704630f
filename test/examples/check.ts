import { parseSync } from "oxc-parser"
import { compileTexts } from "../types/compiler.js"
import { type Document, type Example, examplesIn } from "./example.js"

/** Compiles every example in one run, each as a module of its own, and parses the fragments. */
export async function complaintsAbout(documents: readonly Document[]): Promise<string[]> {
  const all = documents.flatMap(examplesIn)
  const [fragments, examples] = [all.filter((one) => one.isFragment), all.filter((one) => !one.isFragment)]
  return [...fragments.flatMap(syntaxErrors), ...(await compilerErrors(examples))]
}

function syntaxErrors({ document, text }: Example): string[] {
  return parseSync("fragment.ts", text).errors.map(({ message, labels }) => {
    const line = text.slice(0, labels[0]?.start ?? 0).split("\n").length
    return `${document}:${line} syntax: ${message}`
  })
}

/** An example may leave a name unused. */
async function compilerErrors(examples: readonly Example[]): Promise<string[]> {
  const texts = examples.map(({ document, line, text }) => [`${document}@${line}.mts`, text])
  const options = { noUnusedLocals: false, noUnusedParameters: false }
  const diagnostics = await compileTexts(Object.fromEntries(texts), options)
  return diagnostics.map(({ file, line, code, message }) => {
    return `${file.replace(/@\d+\.mts$/, "")}:${line} ${code}: ${message}`
  })
}
