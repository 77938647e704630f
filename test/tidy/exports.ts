import { posix } from "node:path"
import type { Node } from "oxc-parser"
import type { SourceFile, Violation } from "./check.js"
import { literalText, parse, type Source, walk } from "./source.js"

/** The files that `package.json` exports, whose exports are for users, and those that threads load by their path. */
export const entryPoints: readonly string[] = [
  "src/index.ts",
  "src/client/index.ts",
  "src/gateway/index.ts",
  "src/dashboard/index.ts",
  "src/sim/index.ts",
  "src/stores/etcd/index.ts",
  "src/stores/postgres/index.ts",
  "src/stores/postgres/in-thread.ts",
  "src/stores/sqlite/index.ts",
  "src/stores/sqlite/sqlite-in-thread.ts",
  "src/stores/conformance/index.ts",
]

/**
 * Finds names that a file under `src` exports and no other file imports.
 *
 * Unlike the other rules, this one looks at all files at once, including tests and programs: a name that only a test
 * imports is in use. A namespace import, `import()` and `export *` count as a use of every name.
 */
export function needlessExports(files: readonly SourceFile[]): Violation[] {
  const sources = files.map(parse)
  const imported = new Set(sources.flatMap((source) => [...importsOf(source)]))
  return sources.filter(isChecked).flatMap((source) => {
    if (imported.has(nameIn(source.path, ALL))) return []
    return [...exportsOf(source)]
      .filter(({ name }) => !imported.has(nameIn(source.path, name)))
      .map(({ name, at }) => ({
        file: source.path,
        line: source.lineAt(at),
        rule: "export" as const,
        advice: `Remove the export: no other file imports ${name}.`,
      }))
  })
}

/** Every name of a module. */
const ALL = "*"

function isChecked({ path }: Source): boolean {
  return path.startsWith("src/") && !entryPoints.includes(path)
}

function nameIn(path: string, name: string): string {
  return `${path} ${name}`
}

function* importsOf(source: Source): Generator<string> {
  // Only `import(...)` may be anywhere in the tree, and walking all of it is expensive.
  const hasInner = /\bimport\s*\(/.test(source.text)
  const nodes = hasInner ? [...walk(source.program)].map(([node]) => node) : source.program.body
  for (const node of nodes) {
    for (const [specifier, name] of namesTaken(node)) {
      const module = literalText(specifier)
      if (module?.startsWith(".") === true) yield nameIn(fileOf(source.path, module), name)
    }
  }
}

export function fileOf(from: string, module: string): string {
  return posix.join(posix.dirname(from), module).replace(/\.js$/, ".ts")
}

function namesTaken(node: Node): [Node, string][] {
  switch (node.type) {
    case "ImportDeclaration":
      return node.specifiers.map((one) => [
        node.source,
        one.type === "ImportSpecifier" ? wordOf(one.imported) : ALL,
      ])
    case "ExportNamedDeclaration": {
      const { source } = node
      return source === null ? [] : node.specifiers.map((one) => [source, wordOf(one.local)])
    }
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return [[node.source, ALL]]
    default:
      return []
  }
}

function* exportsOf({ program }: Source): Generator<{ readonly name: string; readonly at: number }> {
  for (const statement of program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue
    for (const one of statement.specifiers) yield { name: wordOf(one.exported), at: one.start }
    const { declaration } = statement
    if (declaration === null) continue
    const declared = declaration.type === "VariableDeclaration" ? declaration.declarations : [declaration]
    for (const { id } of declared) {
      if (id?.type === "Identifier") yield { name: id.name, at: id.start }
    }
  }
}

export function wordOf(node: { readonly name: string } | { readonly value: string }): string {
  return "name" in node ? node.name : node.value
}
