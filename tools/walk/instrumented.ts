import {
  type ArrowFunctionExpression,
  type Function as FunctionNode,
  type Node,
  parseSync,
  visitorKeys,
} from "oxc-parser"

/**
 * A JavaScript module that tells `globalThis.entered` of every function that is entered, by the module's name and
 * the function's. What it does is otherwise the same.
 */
export function instrumented(text: string, module: string): string {
  const insertions: Insertion[] = []
  visit(
    parseSync(`${module}.js`, text, { preserveParens: false }).program,
    { name: "", owner: "" },
    (body, name) => {
      const call = `globalThis.entered?.(${JSON.stringify(module)},${JSON.stringify(name)})`
      if (body.type === "BlockStatement") insertions.push({ at: body.start + 1, text: `${call};` })
      else insertions.push({ at: body.start, text: `(${call},(` }, { at: body.end, text: "))" })
    },
  )
  insertions.sort((a, b) => b.at - a.at)
  return insertions.reduce((all, { at, text }) => all.slice(0, at) + text + all.slice(at), text)
}

interface Insertion {
  readonly at: number
  readonly text: string
}

/** What a function that stands here is called: its own name, in the class or object that it belongs to. */
interface Place {
  readonly name: string
  readonly owner: string
}

function visit(node: Node, place: Place, found: (body: Node, name: string) => void): void {
  const here = placeIn(node, place)
  if (isFunction(node) && node.body !== null && !node.generator) found(node.body as Node, here.name)
  const below = isFunction(node) ? { name: "", owner: here.owner } : here
  for (const key of visitorKeys[node.type] ?? []) {
    const child = (node as unknown as Record<string, Node | (Node | null)[] | null>)[key]
    for (const one of Array.isArray(child) ? child : [child]) if (one) visit(one, below, found)
  }
}

function placeIn(node: Node, { name, owner }: Place): Place {
  switch (node.type) {
    case "ClassDeclaration":
    case "ClassExpression":
      return { name: "", owner: node.id?.name ?? name }
    case "MethodDefinition": {
      const method = `${owner}.${keyText(node.key)}`
      if (node.kind === "constructor") return { name: `new ${owner}`, owner }
      return { name: node.kind === "method" ? method : `${node.kind} ${method}`, owner }
    }
    case "PropertyDefinition":
      return { name: `${owner}.${keyText(node.key)}`, owner }
    case "Property":
      return { name: node.kind === "init" ? keyText(node.key) : `${node.kind} ${keyText(node.key)}`, owner }
    case "VariableDeclarator":
      return { name: node.id.type === "Identifier" ? node.id.name : "", owner }
    case "FunctionDeclaration":
      return { name: node.id?.name ?? "", owner }
    default:
      return { name: isFunction(node) ? name : "", owner }
  }
}

function isFunction(node: Node): node is FunctionNode | ArrowFunctionExpression {
  return (
    node.type === "FunctionDeclaration" ||
    node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression"
  )
}

function keyText(key: Node): string {
  if (key.type === "PrivateIdentifier") return `#${key.name}`
  return key.type === "Identifier" ? key.name : "[computed]"
}
