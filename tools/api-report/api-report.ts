import { type Node, visitorKeys } from "oxc-parser"
import { type Declarations, readDeclarations } from "./declarations.js"

/**
 * Describes the public interface of an entry point as text that can be reviewed as a diff: every name that it exports
 * with its declaration, in alphabetical order and without comments, and then every declaration of the package that
 * those refer to, and that users can therefore see, although it is not exported. Of such a class users see instances
 * only, so its static members and its constructor are left out. What the main entry point exports is left to its report.
 *
 * The text is made of the declaration files that the compiler writes. The compiler's own interface, from which other
 * tools for this are made, is not part of version 7.
 */
export function apiReport(entry: string, readText: (path: string) => string, mainEntry = entry): string {
  const files = new Files(readText)
  const exported = files.exportsOf(entry)
  const shown = new Set([...exported.values(), ...files.exportsOf(mainEntry).values()].map(keyOf))
  const reachable = new Map<string, Found>()
  const waiting = [...exported.values()]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of referencesOf(next)) {
      const declared = files.find(next.path, name)
      if (declared === undefined || shown.has(keyOf(declared))) continue
      const found = { ...declared, hidden: declared.declarations.flatMap(membersOfTheClass) }
      shown.add(keyOf(found))
      reachable.set(keyOf(found), found)
      waiting.push(found)
    }
  }
  const inner = [...reachable.values()].sort((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1))
  const sections = [...exported].map(([name, found]) => textOf(found, name))
  if (inner.length > 0)
    sections.push("# not exported, but part of the above", ...inner.map((one) => textOf(one)))
  return `${sections.join("\n\n")}\n`
}

/** Where a name is declared. */
interface Found {
  readonly path: string
  readonly name: string
  /** More than one for overloads, and for a type and a value of the same name. */
  readonly declarations: readonly Node[]
  readonly text: string
  readonly comments: readonly Span[]
  /** The members that users do not see. */
  readonly hidden?: readonly Node[]
}

interface Span {
  readonly start: number
  readonly end: number
}

class Files {
  readonly #readText: (path: string) => string
  readonly #known = new Map<string, Declarations>()

  constructor(readText: (path: string) => string) {
    this.#readText = readText
  }

  at(path: string): Declarations {
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const read = readDeclarations(path, this.#readText(path))
    this.#known.set(path, read)
    return read
  }

  /** Finds the declaration of a name in the scope of a file; undefined if it is not the package's. */
  find(path: string, name: string): Found | undefined {
    const { text, comments, declared, imports } = this.at(path)
    const declarations = declared.get(name)
    if (declarations !== undefined) return { path, name, declarations, text, comments }
    const imported = imports.get(name)
    return imported && this.exportOf(imported.path, imported.name)
  }

  /** In alphabetical order. */
  exportsOf(path: string): Map<string, Found> {
    const names = [...this.at(path).exports.keys()].sort()
    return new Map(
      names.flatMap((name) => {
        const found = this.exportOf(path, name)
        return found === undefined ? [] : [[name, found]]
      }),
    )
  }

  exportOf(path: string, name: string): Found | undefined {
    const target = this.at(path).exports.get(name)
    if (target === undefined) throw new Error(`${path} does not export ${name}`)
    return target.path === undefined ? this.find(path, target.name) : this.exportOf(target.path, target.name)
  }
}

/** Returns the names that declarations refer to, including type parameters. */
function referencesOf({ declarations, hidden = [] }: Found): Set<string> {
  const names = new Set<string>()
  const waiting = [...declarations]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (hidden.includes(node)) continue
    const fields = node as unknown as Readonly<Record<string, Node | (Node | null)[] | null>>
    const reference = REFERENCES[node.type]
    const target = reference === undefined ? undefined : leftmost(fields[reference] as Node | null)
    if (target !== undefined) names.add(target)
    for (const key of visitorKeys[node.type] ?? []) {
      for (const child of [fields[key]].flat()) if (child) waiting.push(child)
    }
  }
  return names
}

/** The kinds of nodes that refer to a declaration, and the field with its name. */
const REFERENCES: Readonly<Record<string, string>> = {
  TSTypeReference: "typeName",
  TSTypeQuery: "exprName",
  TSInterfaceHeritage: "expression",
  TSClassImplements: "expression",
  ClassDeclaration: "superClass",
}

function leftmost(name: Node | null): string | undefined {
  if (name?.type === "TSQualifiedName") return leftmost(name.left)
  return name?.type === "Identifier" ? name.name : undefined
}

/** Returns the members that the instances of a class do not have. */
function membersOfTheClass(statement: Node): Node[] {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
  if (declaration?.type !== "ClassDeclaration") return []
  return declaration.body.body.filter(
    (member) => ("static" in member && member.static) || ("kind" in member && member.kind === "constructor"),
  )
}

function keyOf({ path, name }: Found): string {
  return `${path} ${name}`
}

function sortKeyOf({ path, name }: Found): string {
  return `${name} ${path}`
}

function textOf({ name, declarations, text, comments, hidden = [] }: Found, exportedAs = name): string {
  const cut = [...comments, ...hidden].sort((a, b) => a.start - b.start)
  const parts = declarations.map(({ start, end }) =>
    without(cut, text, { start, end }).replace(/^(export )?(declare )?/, ""),
  )
  return [...(exportedAs === name ? [] : [`# ${exportedAs}:`]), ...parts].join("\n")
}

function without(cut: readonly Span[], text: string, { start, end }: Span): string {
  let kept = ""
  let at = start
  for (const span of cut) {
    // A comment may be within a member that is cut too.
    if (span.start < at || span.end > end) continue
    kept += text.slice(at, span.start)
    at = span.end
  }
  return (kept + text.slice(at, end)).replace(/^\s*\n/gm, "").replace(/[ \t]+$/gm, "")
}
