import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type Comment, type Node, parseSync } from "oxc-parser"
import { project } from "../types/compiler.js"

/** A setting, as an interface of the sources declares it. */
export interface Setting {
  /** `keepAlive.intervalMs`. */
  readonly path: string
  readonly isRequired: boolean
  /** The type as it is written, or undefined if the setting is a group of others. */
  readonly type: string | undefined
  /** The text of the doc comment, in one line. */
  readonly meaning: string
}

/** Returns the settings of an interface, those of a group after the group. */
export function settingsOf(file: string, name: string): Setting[] {
  const text = readFileSync(join(project, file), "utf8")
  const { program, comments } = parseSync(file, text)
  for (const statement of program.body) {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    if (declaration?.type === "TSInterfaceDeclaration" && declaration.id.name === name) {
      return [...settingsIn(declaration.body.body, "", { text, comments })]
    }
  }
  throw new Error(`${file} has no interface ${name}`)
}

interface File {
  readonly text: string
  readonly comments: readonly Comment[]
}

function* settingsIn(members: readonly Node[], prefix: string, file: File): Generator<Setting> {
  for (const member of members) {
    if (member.type !== "TSPropertySignature" || member.key.type !== "Identifier") continue
    const path = prefix + member.key.name
    const type = member.typeAnnotation?.typeAnnotation
    const group = type?.type === "TSTypeLiteral" ? type.members : undefined
    yield {
      path,
      isRequired: !member.optional,
      type:
        group === undefined && type !== undefined
          ? inOneLine(file.text.slice(type.start, type.end))
          : undefined,
      meaning: meaningOf(member, file),
    }
    if (group !== undefined) yield* settingsIn(group, `${path}.`, file)
  }
}

function meaningOf(member: Node, { text, comments }: File): string {
  const comment = comments.findLast(({ end }) => end <= member.start)
  if (comment === undefined || text.slice(comment.end, member.start).trim() !== "") return ""
  return inOneLine(comment.value.replace(/^\s*\*+ ?/gm, "").replace(/\{@link (\w+)\}/g, "`$1`"))
}

function inOneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ")
}
