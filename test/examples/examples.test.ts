import { readdirSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"
import { describe, expect, it } from "vitest"
import { project } from "../types/compiler.js"
import { complaintsAbout } from "./check.js"
import { type Document, examplesIn } from "./example.js"

describe("the examples of the documents and doc comments", () => {
  it("compile", async () => {
    const pages = readdirSync(project).filter((name) => name.endsWith(".md"))
    const documents = [
      ...pages.map(documentAt),
      ...["docs", "examples", "spec"].flatMap((folder) => documentsUnder(folder, ".md")),
      ...documentsUnder("src", ".ts"),
    ]
    expect(documents.flatMap(examplesIn).map(({ document }) => document)).toEqual(
      expect.arrayContaining(["README.md", "docs/virtual-actors.md", "src/node-actor-system.ts"]),
    )
    expect(await complaintsAbout(documents)).toEqual([])
  })
})

describe("a wrong example", () => {
  it("is reported in a document, with its line", async () => {
    const text = [
      "# Names",
      "",
      "```ts",
      'import { ActorPath } from "troupe"',
      "",
      'const path: string = ActorPath.parse("troupe://prod/user/greeter")',
      "```",
    ].join("\n")
    expect(await complaintsAbout([{ path: "docs/names.md", text }])).toEqual([
      "docs/names.md:6 TS2322: Type 'ActorPath' is not assignable to type 'string'.",
    ])
  })

  it("is reported in a doc comment, with its line in the source", async () => {
    const text = [
      "export const before = 1",
      "",
      "/**",
      " * Adds one.",
      " *",
      " * @example",
      " * ```ts",
      ' * const sum: string = 1 + "a".length',
      " * ```",
      " */",
      "export const after = 1",
    ].join("\n")
    expect(await complaintsAbout([{ path: "src/actor/sum.ts", text }])).toEqual([
      "src/actor/sum.ts:8 TS2322: Type 'number' is not assignable to type 'string'.",
    ])
  })

  it("is reported if it imports something that the package does not export", async () => {
    const text =
      '```ts\nimport { MessageCodec } from "troupe"\nimport {} from "troupe/address/actor-path"\n```'
    expect((await complaintsAbout([{ path: "README.md", text }])).map((one) => one.slice(0, 18))).toEqual([
      "README.md:2 TS2305",
      "README.md:3 TS2307",
    ])
  })

  it("is reported if it depends on the previous example", async () => {
    const text = "```ts\nconst a = 1\n```\n\n```ts\nconst b = a\n```\n"
    expect(await complaintsAbout([{ path: "README.md", text }])).toEqual([
      "README.md:6 TS2304: Cannot find name 'a'.",
    ])
  })

  it("is parsed if it is a fragment", async () => {
    const text = "```ts fragment\nawait nowhere(this.a)\n```\n\n```ts fragment\nconst = 2\n```\n"
    expect(await complaintsAbout([{ path: "README.md", text }])).toEqual([
      "README.md:6 syntax: Unexpected token",
    ])
  })

  it("is reported if it has no fences", async () => {
    const text = [
      "/**",
      " * Adds.",
      " *",
      " * @example",
      " * const sum = 1 + 2",
      " *",
      " * const text: string = sum",
      " * @returns the sum of ada@example.com",
      " */",
      "export const add = 1",
      "",
      "/** @example nowhere */",
    ].join("\n")
    expect(await complaintsAbout([{ path: "src/actor/sum.ts", text }])).toEqual([
      "src/actor/sum.ts:12 TS2304: Cannot find name 'nowhere'.",
      "src/actor/sum.ts:7 TS2322: Type 'number' is not assignable to type 'string'.",
    ])
  })
})

describe("examples", () => {
  it("are the blocks of TypeScript and JavaScript", () => {
    const text = [
      "```sh\nnpm test\n```",
      "```ts\nfirst\n```",
      "````md\n```ts\nshown, not meant\n```\n````",
      "  ~~~typescript title=second\n  second\n  ~~~",
      "```js\nthird\n```",
      "```\nplain\n```",
      "```ts\nlast, to the end of the document",
    ].join("\n\n")
    expect(examplesIn({ path: "README.md", text }).map((one) => [one.line, one.text.trim()])).toEqual([
      [6, "first"],
      [16, "second"],
      [20, "third"],
      [28, "last, to the end of the document"],
    ])
  })

  it("of a source are only in doc comments", () => {
    const text = [
      "// ```ts\n// no",
      "/* ```ts\n no */",
      "const s = `\n/**\n~~~ts\nno\n*/`",
      "/**\n * ```ts\n * yes\n * ```\n */",
    ].join("\n")
    expect(examplesIn({ path: "src/actor/cell.ts", text })).toEqual([
      { document: "src/actor/cell.ts", line: 12, text: `${"\n".repeat(11)}   yes`, isFragment: false },
    ])
  })
})

function documentAt(path: string): Document {
  return { path, text: readFileSync(join(project, path), "utf8") }
}

function documentsUnder(folder: string, ending: string): Document[] {
  return readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => documentAt(join(folder, name).split(sep).join("/")))
}
