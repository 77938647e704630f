import { compileTexts } from "../types/compiler.js"
import { type Document, examplesIn } from "./example.js"

/** Compiles every example in one run, each as a module of its own. An example may leave a name unused. */
export async function complaintsAbout(documents: readonly Document[]): Promise<string[]> {
  const examples = documents.flatMap(examplesIn)
  const texts = examples.map(({ document, line, text }) => [`${document}@${line}.mts`, text])
  const options = { noUnusedLocals: false, noUnusedParameters: false }
  const diagnostics = await compileTexts(Object.fromEntries(texts), options)
  return diagnostics.map(({ file, line, code, message }) => {
    return `${file.replace(/@\d+\.mts$/, "")}:${line} ${code}: ${message}`
  })
}
