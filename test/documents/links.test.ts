import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, posix, sep } from "node:path"
import { expect, it } from "vitest"
import { project } from "../types/compiler.js"

it("links of the documents lead to files and headings that exist", () => {
  const pages = pagesOfProject()
  expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(["README.md", "docs/README.md"]))
  expect(brokenLinks(pages)).toEqual([])
})

it("a link to no file, or to no heading, is found", () => {
  const text = [
    "# A page",
    "[no file](nowhere.md) [a file](../package.json) [far away](https://example.com/a.md)",
    "[no heading](#nothing) [a heading](#a-page) [another page's](other.md#the-others-title-1)",
    "[wrapped",
    "text](other.md#nothing)",
    "`[code](nowhere.md)`",
    "```md",
    "[a block](nowhere.md)",
    "```",
  ].join("\n")
  const other = "# The `other`'s title, 1\n\n```sh\n# nothing\n```\n"
  expect(
    brokenLinks([
      { path: "docs/page.md", text },
      { path: "docs/other.md", text: other },
    ]),
  ).toEqual(["docs/page.md: nowhere.md", "docs/page.md: #nothing", "docs/page.md: other.md#nothing"])
})

it("every page of docs is in the table of contents", () => {
  const contents = readFileSync(join(project, "docs/README.md"), "utf8")
  const pages = readdirSync(join(project, "docs")).filter((name) => name.endsWith(".md"))
  expect(pages.filter((name) => name !== "README.md" && !contents.includes(`](${name})`))).toEqual([])
})

interface Page {
  /** Relative to the project, with `/` between its parts. */
  readonly path: string
  readonly text: string
}

function brokenLinks(pages: readonly Page[]): string[] {
  const prose = new Map(pages.map(({ path, text }) => [path, withoutBlocks(text)]))
  return [...prose].flatMap(([path, text]) =>
    [...text.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(target, path, prose))
      .map((target) => `${path}: ${target}`),
  )
}

function leadsSomewhere(target: string, from: string, prose: ReadonlyMap<string, string>): boolean {
  const [file = "", heading] = target.split("#")
  const path = file === "" ? from : posix.join(dirname(from), file)
  const text = prose.get(path)
  if (heading === undefined) return text !== undefined || existsSync(join(project, path))
  return text !== undefined && headingsOf(text).includes(heading)
}

function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  )
}

function withoutBlocks(text: string): string {
  return text.replace(/^ *(`{3,}|~{3,})[^\n]*\n.*?^ *\1 *$/gms, "")
}

function pagesOfProject(): Page[] {
  const folders = ["docs", "examples", "spec", "test"]
  const paths = folders.flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" }).map((name) =>
      join(folder, name).split(sep).join("/"),
    ),
  )
  return [...readdirSync(project), ...paths]
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ path, text: readFileSync(join(project, path), "utf8") }))
}
