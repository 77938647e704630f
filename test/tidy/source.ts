import { type Comment, type Node, type Program, parseSync, visitorKeys } from "oxc-parser"
import type { SourceFile } from "./check.js"

export interface Source {
  readonly path: string
  readonly text: string
  readonly program: Program
  readonly comments: readonly Comment[]
  /** The first syntax error. The program is not to be trusted then. */
  readonly broken: { readonly at: number; readonly message: string } | undefined
  /** The line, from 1, that holds a character. */
  lineAt(at: number): number
}

/** Where a node hangs: `parent[key]` is the node, or an array that has it. */
export interface Place {
  readonly parent: Node
  readonly key: string
}

/** Parses a file once, however often it is asked for. */
export function parse(file: SourceFile): Source {
  const known = parsed.get(file)
  if (known !== undefined) return known
  const source = parseNew(file)
  parsed.set(file, source)
  return source
}

const parsed = new WeakMap<SourceFile, Source>()

function parseNew(file: SourceFile): Source {
  const { program, comments, errors } = parseSync(file.path, file.text, { preserveParens: false })
  const error = errors[0]
  return {
    path: file.path,
    text: file.text,
    program,
    comments,
    broken: error && { at: error.labels[0]?.start ?? 0, message: error.message },
    lineAt: (at) => file.text.slice(0, at).split("\n").length,
  }
}

/** Every node of a tree, parents first, without those that `skip` names and what is below them. */
export function* walk(
  root: Node,
  skip: (node: Node) => boolean = () => false,
): Generator<[Node, Place | undefined]> {
  const waiting: [Node, Place | undefined][] = [[root, undefined]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node] = next
    if (skip(node)) continue
    yield next
    waiting.push(...childrenOf(node).reverse())
  }
}

function childrenOf(node: Node): [Node, Place][] {
  const fields = node as unknown as Readonly<Record<string, Node | (Node | null)[] | null>>
  return (visitorKeys[node.type] ?? []).flatMap((key) =>
    [fields[key]].flat().flatMap((child): [Node, Place][] => (child ? [[child, { parent: node, key }]] : [])),
  )
}

/** The text of a string literal, quoted or in backticks; undefined for what is put together at run time. */
export function literalText(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value
  if (node.type === "TemplateLiteral" && node.expressions.length === 0) {
    return node.quasis[0]?.value.cooked ?? undefined
  }
  return undefined
}
