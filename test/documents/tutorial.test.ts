import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { project } from "../types/compiler.js"

const folder = "examples/chat"

it("the tutorial shows the programs that examples/chat runs, and no others", () => {
  const programs = readdirSync(join(project, folder)).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  )
  const texts = programs.map((name) => readFileSync(join(project, folder, name), "utf8"))
  const page = readFileSync(join(project, "docs/tutorial.md"), "utf8")
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text)
  expect(blocks.sort()).toEqual(texts.sort())
  for (const name of programs) expect(page).toContain(`\`${name}\``)
})
