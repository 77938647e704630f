import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { complaintsAbout } from "./expectations.js"

describe("the public types", () => {
  it("refuse exactly what is expected, with the expected error codes", async () => {
    const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".types.ts"))
    expect(names.length).toBeGreaterThan(0)
    const texts = names.map((name) => [name, readFileSync(join(import.meta.dirname, name), "utf8")])
    expect(await complaintsAbout(Object.fromEntries(texts))).toEqual([])
  })
})

describe("the check of expectations", () => {
  it("reports an expectation without an error", async () => {
    const text = "// @ts-expect-error TS2322: a number is not a number\nexport const a: number = 1\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual(["a.types.ts:2 compiles without TS2322"])
  })

  it("reports an error with another code than the expected one", async () => {
    const text = "// @ts-expect-error TS2322: a string is not a number\nexport const a: number = nowhere\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual([
      "a.types.ts:2 compiles without TS2322",
      "a.types.ts:2 TS2304: Cannot find name 'nowhere'.",
    ])
  })

  it("reports an unexpected error", async () => {
    const text = `import { ActorPath } from "../../src/index.js"\n\nexport const a: string = ActorPath.root({ system: "s" })\n`
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual([
      "a.types.ts:3 TS2322: Type 'ActorPath' is not assignable to type 'string'.",
    ])
  })

  it("requires each expectation to name the error code and the reason", async () => {
    const text = "// @ts-expect-error\nexport const a: number = ''\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toContain(
      "a.types.ts:1 must name the expected error code and the reason",
    )
  })
})
