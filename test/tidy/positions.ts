import type { Node } from "oxc-parser"
import type { Place } from "./source.js"

/** The nodes of TypeScript that remain in the output. All others of its own are erased. */
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

/** Whether a node and its subtree are erased with the types, or only name exports of another module. */
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

/** Whether an identifier at this place names a member, a label or an export instead of a variable. */
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
