import type { Node } from "oxc-parser"
import type { Finding } from "./check.js"
import { literalText, type Source, walk } from "./source.js"

const declares: ReadonlySet<string> = new Set(["describe", "it", "test", "suite", "bench"])
const sidesteps: ReadonlySet<string> = new Set(["only", "skip", "todo"])

/** Finds tests that are skipped or focused, by a member such as `it.skip` or by an option such as `{ skip: true }`. */
export function* focusedTests(source: Source): Generator<Finding> {
  for (const [node] of walk(source.program)) {
    const culprit = sidestepIn(node)
    if (culprit === undefined) continue
    yield { at: culprit.start, rule: "focus", advice: "Run the test, or remove it." }
  }
}

function sidestepIn(node: Node): Node | undefined {
  if (node.type === "MemberExpression") {
    const name = node.computed ? literalText(node.property) : nameOf(node.property)
    return sidesteps.has(name ?? "") && declaresTests(node.object) ? node.property : undefined
  }
  if (node.type !== "CallExpression" || !declaresTests(node.callee)) return undefined
  return node.arguments
    .flatMap((argument) => (argument.type === "ObjectExpression" ? argument.properties : []))
    .find(
      (property) =>
        property.type === "Property" && sidesteps.has(keyOf(property.key)) && !isFalse(property.value),
    )
}

/** Whether an expression declares tests: `it`, `it.concurrent`, `it.each(rows)` and the like. */
function declaresTests(node: Node): boolean {
  switch (node.type) {
    case "Identifier":
      return declares.has(node.name)
    case "MemberExpression":
      return declaresTests(node.object)
    case "CallExpression":
      return declaresTests(node.callee)
    case "TaggedTemplateExpression":
      return declaresTests(node.tag)
    default:
      return false
  }
}

function nameOf(node: Node): string | undefined {
  return node.type === "Identifier" ? node.name : undefined
}

function keyOf(node: Node): string {
  return nameOf(node) ?? literalText(node) ?? ""
}

function isFalse(node: Node): boolean {
  return node.type === "Literal" && node.value === false
}
