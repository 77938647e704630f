import { isBuiltin } from "node:module"
import { posix } from "node:path"
import type { Node } from "oxc-parser"
import type { Finding, Rule } from "./check.js"
import { type Folder, folderOf, nodeFolders } from "./folders.js"
import { literalText, type Source, walk } from "./source.js"

/** Finds imports that are not allowed, in every form, including imports of types. */
export function* forbiddenImports(source: Source, folder: Folder): Generator<Finding> {
  for (const [node] of walk(source.program)) {
    const specifier = specifierOf(node)
    if (specifier === null) continue
    const found = verdict(source.path, folder, literalText(specifier))
    if (found !== undefined) yield { at: specifier.start, rule: found[0], advice: found[1] }
  }
}

function specifierOf(node: Node): Node | null {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return node.source
    case "TSExternalModuleReference":
      return node.expression
    default:
      return null
  }
}

function verdict(from: string, folder: Folder, specifier: string | undefined): [Rule, string] | undefined {
  if (specifier === undefined) {
    if (folder.usesNode) return undefined
    return ["import-computed", "Write the imported module as a literal, so that its folder can be checked."]
  }
  if (specifier.startsWith("./") || specifier.startsWith("../"))
    return relativeVerdict(from, folder, specifier)
  if (specifier.startsWith("node:") || isBuiltin(specifier)) {
    if (folder.usesNode) return undefined
    return [
      "import-builtin",
      `Use a port in ${folder.name} instead of "${specifier}": only ${nodeFolders.join(", ")} may import from Node.`,
    ]
  }
  if (folder.packages.includes(packageOf(specifier))) return undefined
  return [
    "import-package",
    `Remove the import of "${specifier}", or allow it for ${folder.name} in test/tidy/folders.ts, with a reason.`,
  ]
}

function relativeVerdict(from: string, folder: Folder, specifier: string): [Rule, string] | undefined {
  const target = posix.join(posix.dirname(from), specifier)
  if (!target.startsWith("src/")) {
    return ["import-outside", `Import only from src: "${specifier}" is not part of the package.`]
  }
  const targetFolder = folderOf(target)
  if (targetFolder === undefined) {
    return [
      "folder",
      `Import from a folder that is listed in test/tidy/folders.ts: that of "${specifier}" is not.`,
    ]
  }
  if (targetFolder.depth <= folder.depth) return undefined
  return [
    "import-direction",
    `Reverse the dependency: ${folder.name} is above ${targetFolder.name} and may not import from it.`,
  ]
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
}
