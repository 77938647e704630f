import type { Node } from "oxc-parser"

/** Yields the identifiers that a node itself declares as values, not those declared further inside. */
export function* namesBoundBy(node: Node): Generator<Node> {
  switch (node.type) {
    case "VariableDeclarator":
      yield* namesIn(node.id)
      break
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      yield* namesIn(node.id)
      for (const parameter of node.params) yield* namesIn(parameter)
      break
    case "CatchClause":
      yield* namesIn(node.param)
      break
    case "ClassDeclaration":
    case "ClassExpression":
    case "TSEnumDeclaration":
    case "TSImportEqualsDeclaration":
      yield* namesIn(node.id)
      break
    case "ImportSpecifier":
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
      yield node.local
      break
  }
}

function* namesIn(pattern: Node | null): Generator<Node> {
  switch (pattern?.type) {
    case "Identifier":
      yield pattern
      break
    case "ObjectPattern":
      for (const property of pattern.properties) {
        yield* namesIn(property.type === "RestElement" ? property.argument : property.value)
      }
      break
    case "ArrayPattern":
      for (const element of pattern.elements) yield* namesIn(element)
      break
    case "AssignmentPattern":
      yield* namesIn(pattern.left)
      break
    case "RestElement":
      yield* namesIn(pattern.argument)
      break
    case "TSParameterProperty":
      yield* namesIn(pattern.parameter)
      break
  }
}
