import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { complaintsAbout } from "./expectations.js"

describe("the types", () => {
  it("refuse what they should, for the reason they should, and nothing else", async () => {
    const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".types.ts"))
    expect(names.length).toBeGreaterThan(0)
    const texts = names.map((name) => [name, readFileSync(join(import.meta.dirname, name), "utf8")])
    expect(await complaintsAbout(Object.fromEntries(texts))).toEqual([])
  })
})

describe("the checker of types", () => {
  it("finds an expectation that is not met", async () => {
    const text = "// @ts-expect-error TS2322: a number is no number\nexport const a: number = 1\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual(["a.types.ts:2 compiles without TS2322"])
  })

  it("finds an error of another kind than the expected one", async () => {
    const text = "// @ts-expect-error TS2322: a text is no number\nexport const a: number = nowhere\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual([
      "a.types.ts:2 compiles without TS2322",
      "a.types.ts:2 TS2304: Cannot find name 'nowhere'.",
    ])
  })

  it("finds an error that nobody expected", async () => {
    const text = `import { ActorPath } from "../../src/index.js"\n\nexport const a: string = ActorPath.root({ system: "s" })\n`
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual([
      "a.types.ts:3 TS2322: Type 'ActorPath' is not assignable to type 'string'.",
    ])
  })

  it("wants each expectation to say which error, and why", async () => {
    const text = "// @ts-expect-error\nexport const a: number = ''\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toContain(
      "a.types.ts:1 says neither which error it expects nor why",
    )
  })
})
