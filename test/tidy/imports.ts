import { isBuiltin } from "node:module"
import { posix } from "node:path"
import type { Node } from "oxc-parser"
import type { Finding, Rule } from "./check.js"
import { type Room, roomOf, worldly } from "./rooms.js"
import { literalText, type Source, walk } from "./source.js"

/** Every way to name another module counts, those that only types go through included. */
export function* forbiddenImports(source: Source, room: Room): Generator<Finding> {
  for (const [node] of walk(source.program)) {
    const specifier = specifierOf(node)
    if (specifier === null) continue
    const found = verdict(source.path, room, literalText(specifier))
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

function verdict(from: string, room: Room, specifier: string | undefined): [Rule, string] | undefined {
  if (specifier === undefined) {
    if (room.touchesTheWorld) return undefined
    return ["import-computed", "Write the imported module as a literal, so that its room can be seen."]
  }
  if (specifier.startsWith("./") || specifier.startsWith("../")) return relativeVerdict(from, room, specifier)
  if (specifier.startsWith("node:") || isBuiltin(specifier)) {
    if (room.touchesTheWorld) return undefined
    return [
      "import-builtin",
      `Put a port between ${room.name} and "${specifier}": only ${worldly.join(", ")} import from Node.`,
    ]
  }
  if (room.packages.includes(packageOf(specifier))) return undefined
  return [
    "import-package",
    `Do without "${specifier}", or allow it to ${room.name} in test/tidy/rooms.ts and say why there.`,
  ]
}

function relativeVerdict(from: string, room: Room, specifier: string): [Rule, string] | undefined {
  const target = posix.join(posix.dirname(from), specifier)
  if (!target.startsWith("src/")) {
    return ["import-outside", `Import only from src: "${specifier}" is not published with the package.`]
  }
  const targetRoom = roomOf(target)
  if (targetRoom === undefined) {
    return [
      "room",
      `Import from a room of the house: test/tidy/rooms.ts does not know the one of "${specifier}".`,
    ]
  }
  if (targetRoom.depth <= room.depth) return undefined
  return [
    "import-direction",
    `Turn the dependency around: ${room.name} is above ${targetRoom.name} and may not import from it.`,
  ]
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
}
