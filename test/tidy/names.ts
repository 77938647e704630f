import type { Node } from "oxc-parser"
import type { Finding } from "./check.js"
import { type Source, walk } from "./source.js"

const vagueFiles: ReadonlySet<string> = new Set(["utils", "helpers", "common", "types"])
const vagueEndings: readonly string[] = ["Manager", "Service", "Impl", "Base"]

/** Names that say that something is there, but not what it does. */
export function* vagueNames(source: Source): Generator<Finding> {
  const vague = source.path.split("/").find((part) => vagueFiles.has(part.replace(/\..*$/, "")))
  if (vague !== undefined) {
    yield { at: 0, rule: "file-name", advice: `Name the file after the one thing it holds, not ${vague}.` }
  }
  for (const [node] of walk(source.program)) {
    const name = classNameIn(node)
    const ending = vagueEndings.find((one) => name?.name.endsWith(one))
    if (name === undefined || ending === undefined) continue
    yield {
      at: name.start,
      rule: "class-name",
      advice: `Name the class for what it does: ${ending} says nothing.`,
    }
  }
}

function classNameIn(node: Node) {
  if (node.type === "ClassDeclaration" || node.type === "ClassExpression") return node.id ?? undefined
  if (node.type !== "VariableDeclarator" || node.init?.type !== "ClassExpression") return undefined
  return node.id.type === "Identifier" ? node.id : undefined
}
