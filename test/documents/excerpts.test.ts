import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { project } from "../types/compiler.js"

it("blocks of the documents that name a file are parts of that file", () => {
  const pages = ["docs", "examples"].flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  )
  const excerpts = pages.flatMap((page) => excerptsIn(readFileSync(join(project, page), "utf8")))
  const files = new Set(excerpts.map(({ file }) => file.split("/").slice(0, 2).join("/")))
  expect([...files].sort()).toEqual([
    "examples/deploy",
    "examples/orders",
    "examples/scheduler",
    "examples/sessions",
    "examples/subscriptions",
    "examples/wallets",
  ])
  const wrong = excerpts.filter(
    ({ file, text }) => !isExcerpt(text, readFileSync(join(project, file), "utf8")),
  )
  expect(wrong).toEqual([])
})

it("a block that differs from its file is found", () => {
  const file = "class A {\n  a = 1\n\n  b = 2\n\n  c = 3\n}\n"
  const accepted = [
    file,
    "  a = 1\n",
    "b = 2\n",
    "  a = 1\n\n  b = 2\n",
    "class A {\n  // ...\n\n  c = 3\n}\n",
  ]
  const refused = ["  a = 2\n", "  a =\n", "= 1\n", "  a = 1\n  b = 2\n", "  b = 2\n  // ...\n  a = 1\n"]
  expect(accepted.filter((text) => !isExcerpt(text, file))).toEqual([])
  expect(refused.filter((text) => isExcerpt(text, file))).toEqual([])
  expect(excerptsIn("```ts fragment examples/a.ts\n  a = 1\n```\n\n```ts\nconst b = 2\n```\n")).toEqual([
    { file: "examples/a.ts", text: "  a = 1\n" },
  ])
})

interface Excerpt {
  /** Relative to the project. */
  readonly file: string
  readonly text: string
}

function excerptsIn(page: string): Excerpt[] {
  const blocks = page.matchAll(/^```ts fragment (\S+)\n(.*?)^```$/gms)
  return [...blocks].map(([, file = "", text = ""]) => ({ file, text }))
}

/**
 * Whether the parts of a text, between its lines `// ...`, are whole lines of the file, in the same order. Indentation
 * does not count: the formatter removes that of a block.
 */
function isExcerpt(text: string, file: string): boolean {
  const whole = `\n${withoutIndents(file)}`
  let from = 0
  for (const part of withoutIndents(text).split(/^\/\/ \.\.\.\n/m)) {
    const lines = `\n${part.replace(/^\n+|\n+$/g, "")}\n`
    const at = whole.indexOf(lines, from)
    if (at === -1) return false
    from = at + lines.length - 1
  }
  return true
}

function withoutIndents(text: string): string {
  return text.replace(/^ +/gm, "")
}
