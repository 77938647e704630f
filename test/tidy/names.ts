import type { Node } from "oxc-parser"
import type { Finding } from "./check.js"
import { type Source, walk } from "./source.js"

const vagueFiles: ReadonlySet<string> = new Set(["utils", "helpers", "common", "types"])
const vagueEndings: readonly string[] = ["Manager", "Service", "Impl", "Base"]

/** Finds names of files and classes that do not say what they are for. */
export function* vagueNames(source: Source): Generator<Finding> {
  const vague = source.path.split("/").find((part) => vagueFiles.has(part.replace(/\..*$/, "")))
  if (vague !== undefined) {
    yield { at: 0, rule: "file-name", advice: `Name the file after its main export, not ${vague}.` }
  }
  for (const [node] of walk(source.program)) {
    const name = classNameIn(node)
    const ending = vagueEndings.find((one) => name?.name.endsWith(one))
    if (name === undefined || ending === undefined) continue
    yield {
      at: name.start,
      rule: "class-name",
      advice: `Name the class for what it does, without ${ending}.`,
    }
  }
}

function classNameIn(node: Node) {
  if (node.type === "ClassDeclaration" || node.type === "ClassExpression") return node.id ?? undefined
  if (node.type !== "VariableDeclarator" || node.init?.type !== "ClassExpression") return undefined
  return node.id.type === "Identifier" ? node.id : undefined
}
