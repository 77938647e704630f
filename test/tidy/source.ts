import { type Comment, type Node, type Program, parseSync, visitorKeys } from "oxc-parser"
import type { SourceFile } from "./check.js"

export interface Source {
  readonly path: string
  readonly text: string
  readonly program: Program
  readonly comments: readonly Comment[]
  /** The first syntax error. If there is one, `program` is incomplete. */
  readonly broken: { readonly at: number; readonly message: string } | undefined
  /** Returns the line, counted from 1, of a character. */
  lineAt(at: number): number
}

/** The position of a node in the tree: `parent[key]` is the node, or an array that contains it. */
export interface Place {
  readonly parent: Node
  readonly key: string
}

/** Parses a file, and caches the result. */
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

/** Yields every node of a tree, parents first, except the subtrees that `skip` matches. */
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

/** Returns the value of a string literal, quoted or in backticks, or undefined if it is computed at run time. */
export function literalText(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value
  if (node.type === "TemplateLiteral" && node.expressions.length === 0) {
    return node.quasis[0]?.value.cooked ?? undefined
  }
  return undefined
}
