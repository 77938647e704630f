import type { Node } from "oxc-parser"
import type { Place } from "./source.js"

/** What TypeScript adds to the tree and leaves in the output. Everything else of its own is erased. */
const survivesErasure: ReadonlySet<string> = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
  "TSParameterProperty",
  "TSEnumDeclaration",
  "TSEnumBody",
  "TSEnumMember",
  "TSModuleDeclaration",
  "TSModuleBlock",
  "TSExportAssignment",
  "TSImportEqualsDeclaration",
])

/** Whether a node, with all that is below it, is gone once types are erased, or names only what another module has. */
export function isOnlyTypes(node: Node): boolean {
  switch (node.type) {
    case "ImportDeclaration":
    case "ImportSpecifier":
      return node.importKind === "type"
    case "ExportNamedDeclaration":
      return node.exportKind === "type" || node.source !== null
    case "ExportSpecifier":
      return node.exportKind === "type"
    case "ExportAllDeclaration":
      return true
    default:
      return node.type.startsWith("TS") && !survivesErasure.has(node.type)
  }
}

/** Whether an identifier in this place names a member, a label or an export: something other than a variable. */
export function isOnlyAName({ parent, key }: Place): boolean {
  switch (parent.type) {
    case "MemberExpression":
      return key === "property" && !parent.computed
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
    case "AccessorProperty":
      return key === "key" && !parent.computed
    case "ImportSpecifier":
      return key === "imported"
    case "ExportSpecifier":
      return key === "exported"
    case "TSEnumMember":
      return key === "id"
    case "LabeledStatement":
    case "BreakStatement":
    case "ContinueStatement":
      return key === "label"
    case "MetaProperty":
    case "ImportAttribute":
      return true
    default:
      return false
  }
}
