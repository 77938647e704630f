import { existsSync, readFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"

/** Returns the links of a Markdown file that lead nowhere, or out of the folder, as in `file.md: target`. */
export function deadLinks(folder: string, file: string): string[] {
  return linksOf(readFileSync(join(folder, file), "utf8"))
    .filter((link) => !leadsSomewhere(folder, file, link))
    .map((link) => `${file}: ${link}`)
}

function linksOf(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string)
}

function leadsSomewhere(folder: string, file: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true
  const [path = "", anchor] = link.split("#")
  const target = path === "" ? join(folder, file) : join(folder, dirname(file), path)
  if (relative(folder, target).split(sep)[0] === ".." || !existsSync(target)) return false
  return anchor === undefined || anchorsOf(readFileSync(target, "utf8")).includes(anchor)
}

/** The anchors that a page of Markdown gets: its headings in lower case, without punctuation. */
function anchorsOf(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  )
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, (code) => code.slice(1, -1))
}
