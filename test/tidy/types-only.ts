import type { Node } from "oxc-parser"
import type { Finding } from "./check.js"
import type { Source } from "./source.js"

/** A file that compiles to nothing. An `import { type X }` is left in the output as an import, so it does not pass. */
export function* runtimeCodeInTypes(source: Source): Generator<Finding> {
  for (const statement of source.program.body) {
    if (vanishes(statement)) continue
    yield {
      at: statement.start,
      rule: "types-only",
      advice:
        "Leave only types, interfaces and `import type` or `export type` here; what runs goes to another room.",
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
