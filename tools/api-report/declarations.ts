import { posix } from "node:path"
import { type Directive, type Node, parseSync, type Statement } from "oxc-parser"

/** What a declaration file declares, imports and exports, by name. */
export interface Declarations {
  readonly text: string
  readonly comments: readonly { readonly start: number; readonly end: number }[]
  /** The statements that declare a name. */
  readonly declared: ReadonlyMap<string, readonly Node[]>
  /** Imports of other files of the package; those of other packages are left out. */
  readonly imports: ReadonlyMap<string, { readonly path: string; readonly name: string }>
  /** The name here, or in the file that it is exported from. */
  readonly exports: ReadonlyMap<string, { readonly path?: string; readonly name: string }>
}

/** Reads a declaration file that the compiler wrote. Rejects forms of exports that the package does not use. */
export function readDeclarations(path: string, text: string): Declarations {
  const { program, comments, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`)
  const declared = new Map<string, Node[]>()
  const imports = new Map<string, { path: string; name: string }>()
  const exports = new Map<string, { path?: string; name: string }>()

  const declare = (declaration: Node, statement: Node): string[] => {
    const names = namesOf(declaration)
    for (const name of names) declared.set(name, [...(declared.get(name) ?? []), statement])
    return names
  }
  const read = (statement: Directive | Statement) => {
    switch (statement.type) {
      case "ImportDeclaration": {
        const from = fileOf(path, statement.source.value)
        if (from === undefined) return
        for (const specifier of statement.specifiers) {
          if (specifier.type !== "ImportSpecifier") throw unknownForm(path, statement)
          imports.set(specifier.local.name, { path: from, name: nameOf(specifier.imported) })
        }
        return
      }
      case "ExportNamedDeclaration": {
        if (statement.declaration !== null) {
          for (const name of declare(statement.declaration, statement)) exports.set(name, { name })
          return
        }
        const from = statement.source && fileOf(path, statement.source.value)
        for (const { local, exported } of statement.specifiers) {
          exports.set(nameOf(exported), { ...(from ? { path: from } : {}), name: nameOf(local) })
        }
        return
      }
      case "ExportAllDeclaration":
      case "ExportDefaultDeclaration":
        throw unknownForm(path, statement)
      default:
        declare(statement, statement)
    }
  }
  for (const statement of program.body) read(statement)
  return { text, comments, declared, imports, exports }
}

function namesOf(declaration: Node): string[] {
  if (declaration.type === "VariableDeclaration") {
    return declaration.declarations.map(({ id }) => nameOf(id))
  }
  return "id" in declaration && declaration.id ? [nameOf(declaration.id as Node)] : []
}

function nameOf(node: Node): string {
  if (node.type === "Identifier") return node.name
  throw new Error(`a name is a ${node.type}`)
}

/** Returns the declaration file of a relative import. */
function fileOf(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, ".d.ts")
}

function unknownForm(path: string, { type }: Node): Error {
  return new Error(`${path} contains a form that the report does not know: ${type}`)
}
