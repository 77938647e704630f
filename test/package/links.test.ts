import { mkdirSync, writeFileSync } from "node:fs"
import { expect, it, onTestFinished } from "vitest"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"
import { deadLinks } from "./links.js"

it("accepts files, headings and addresses, and reports what is missing or outside", () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  mkdirSync(folder.file("docs"))
  writeFileSync(folder.file("README.md"), "# Top\n\n## What it `does`, and how\n")
  const good = ["../README.md#what-it-does-and-how", "#here", "page.md", "https://example.com/x"]
  const bad = ["../README.md#elsewhere", "#there", "gone.md", "../../README.md", "/README.md"]
  const text = [...good, ...bad].map((link) => `[a link](${link})\n`).join("")
  writeFileSync(folder.file("docs/page.md"), `# Here\n\n${text}\n\`\`\`md\n[in code](gone.md)\n\`\`\`\n`)
  expect(deadLinks(folder.path, "docs/page.md")).toEqual(bad.map((link) => `docs/page.md: ${link}`))
})
