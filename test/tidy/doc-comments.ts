import type { Node } from "oxc-parser"
import type { SourceFile, Violation } from "./check.js"
import { entryPoints, fileOf, wordOf } from "./exports.js"
import { parse, type Source } from "./source.js"

/**
 * Finds public names without a doc comment: each name that an entry point exports, in the file that declares it, and the
 * members of exported classes, interfaces and object types. Of overloads, the first has the comment. Members that are
 * private, or override one of a base class, need none.
 */
export function undocumented(files: readonly SourceFile[]): Violation[] {
  const sources = new Map(files.map((file) => [file.path, file]))
  const exported = entryPoints.flatMap((path) => {
    const file = sources.get(path)
    return file === undefined ? [] : [...exportsOf(parse(file))]
  })
  const seen = new Set<string>()
  return exported.flatMap((one) => [...violationsOf(one, sources, seen)])
}

/** A name at the module scope of a file. */
interface Name {
  readonly file: string
  readonly name: string
}

interface Declared {
  readonly name: string
  /** The statement, which begins with the comment of the declaration. */
  readonly statement: Node
  readonly declaration: Node
}

function* exportsOf(source: Source): Generator<Name> {
  for (const statement of source.program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue
    for (const one of statement.specifiers) {
      const file = statement.source === null ? source.path : fileOf(source.path, statement.source.value)
      yield { file, name: wordOf(one.local) }
    }
    for (const { name } of declaredIn(statement)) yield { file: source.path, name }
  }
}

function* violationsOf(
  { file, name }: Name,
  files: ReadonlyMap<string, SourceFile>,
  seen: Set<string>,
): Generator<Violation> {
  const given = files.get(file)
  if (given === undefined || seen.has(`${file} ${name}`)) return
  seen.add(`${file} ${name}`)
  const source = parse(given)
  const all = source.program.body.flatMap((statement) => [...declaredIn(statement)])
  const own = all.filter((one) => one.name === name)
  for (const [index, { statement, declaration }] of own.entries()) {
    const isOverload = index > 0 && declaration.type === own[index - 1]?.declaration.type
    if (!isOverload && !hasComment(source, statement)) yield violation(source, statement, name)
    for (const [member, path] of publicMembers(declaration, name)) {
      if (!hasComment(source, member)) yield violation(source, member, path)
    }
    const aliased = aliasOf(declaration)
    if (aliased !== undefined) yield* violationsOf(origin(source, aliased), files, seen)
  }
  if (own.length === 0) {
    const from = origin(source, name)
    if (from.file !== file) yield* violationsOf(from, files, seen)
  }
}

function* declaredIn(statement: Node): Generator<Declared> {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
  if (declaration === null) return
  if (declaration.type === "VariableDeclaration") {
    for (const one of declaration.declarations) {
      if (one.id.type === "Identifier") yield { name: one.id.name, statement, declaration: one }
    }
  } else if ("id" in declaration && declaration.id?.type === "Identifier") {
    yield { name: declaration.id.name, statement, declaration }
  }
}

/** Returns where the name of an import or re-export comes from, or the name itself if it is neither. */
function origin(source: Source, name: string): Name {
  for (const statement of source.program.body) {
    if (statement.type === "ImportDeclaration") {
      for (const one of statement.specifiers) {
        if (one.type === "ImportSpecifier" && one.local.name === name)
          return { file: fileOf(source.path, statement.source.value), name: wordOf(one.imported) }
      }
    } else if (statement.type === "ExportNamedDeclaration" && statement.source !== null) {
      for (const one of statement.specifiers) {
        if (wordOf(one.exported) === name)
          return { file: fileOf(source.path, statement.source.value), name: wordOf(one.local) }
      }
    }
  }
  return { file: source.path, name }
}

/** Returns the name that a type is another name of. */
function aliasOf(declaration: Node): string | undefined {
  if (declaration.type !== "TSTypeAliasDeclaration") return undefined
  const { typeAnnotation: type } = declaration
  return type.type === "TSTypeReference" && type.typeName.type === "Identifier"
    ? type.typeName.name
    : undefined
}

/** Yields the members that need a comment, each with its path: `Class.member`, `Settings.group.member`. */
function* publicMembers(node: Node, path: string): Generator<[Node, string]> {
  let previous: string | undefined
  for (const member of membersOf(node)) {
    const name = nameOf(member)
    if (name === undefined || isInternal(member)) continue
    const memberPath = `${path}.${name}`
    if (name !== previous) yield [member, memberPath]
    previous = name
    if ("typeAnnotation" in member) {
      const type = (member.typeAnnotation as { readonly typeAnnotation?: Node } | null)?.typeAnnotation
      if (type?.type === "TSTypeLiteral") yield* publicMembers(type, memberPath)
    }
  }
}

function membersOf(node: Node): readonly Node[] {
  switch (node.type) {
    case "ClassDeclaration":
    case "TSInterfaceDeclaration":
      return node.body.body
    case "TSTypeLiteral":
      return node.members
    case "TSTypeAliasDeclaration":
      return membersOf(node.typeAnnotation)
    case "VariableDeclarator":
      return node.init === null ? [] : membersOf(node.init)
    case "TSAsExpression":
      return membersOf(node.expression)
    case "ObjectExpression":
      return node.properties
    default:
      return []
  }
}

function nameOf(member: Node): string | undefined {
  if (!("key" in member)) return undefined
  const key = member.key as Node
  return key.type === "Identifier" && !("computed" in member && member.computed) ? key.name : undefined
}

function isInternal(member: Node): boolean {
  return (
    ("accessibility" in member && member.accessibility === "private") ||
    ("override" in member && member.override === true) ||
    inherited.has(nameOf(member) ?? "")
  )
}

/** Members of classes that `TroupeError`, every object or the class itself documents. */
const inherited: ReadonlySet<string> = new Set(["code", "constructor", "toJSON", "toString"])

/** Says whether a doc comment comes right before the node, or before line comments that do. */
function hasComment({ comments, text }: Source, node: Node): boolean {
  return comments.some(
    ({ type, value, end }) =>
      type === "Block" &&
      value.startsWith("*") &&
      end <= node.start &&
      text
        .slice(end, node.start)
        .replace(/\/\/.*/g, "")
        .trim() === "",
  )
}

function violation(source: Source, node: Node, path: string): Violation {
  return {
    file: source.path,
    line: source.lineAt(node.start),
    rule: "doc-comment",
    advice: `Write a doc comment for ${path}, which is public.`,
  }
}
