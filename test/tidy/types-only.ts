import type { Node } from "oxc-parser"
import type { Finding } from "./check.js"
import type { Source } from "./source.js"

/**
 * Finds statements that exist at run time in a file that must contain only types. An `import { type X }` is refused too,
 * because the output keeps it as an import.
 */
export function* runtimeCodeInTypes(source: Source): Generator<Finding> {
  for (const statement of source.program.body) {
    if (vanishes(statement)) continue
    yield {
      at: statement.start,
      rule: "types-only",
      advice:
        "Keep only types, interfaces, `import type` and `export type` here; move other code to another folder.",
    }
  }
}

function vanishes(statement: Node): boolean {
  switch (statement.type) {
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return true
    case "ImportDeclaration":
      return statement.importKind === "type"
    case "ExportAllDeclaration":
      return statement.exportKind === "type"
    case "ExportNamedDeclaration":
      return statement.declaration === null
        ? statement.exportKind === "type"
        : vanishes(statement.declaration)
    case "VariableDeclaration":
    case "ClassDeclaration":
    case "TSDeclareFunction":
    case "TSModuleDeclaration":
      return statement.declare === true
    default:
      return false
  }
}
