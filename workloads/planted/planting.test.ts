import { describe, expect, it } from "vitest"
import { type Planting, plantedText } from "./planting.js"

const planting: Planting = {
  name: "door-left-open",
  about: "locks nothing",
  breaks: "one at a time",
  workload: "doors",
  file: "src/doors/door.ts",
  from: "if (this.#locked) return $1[0];",
  to: "$& // $1",
}

describe("a planting", () => {
  it("puts its text in the place of the other, to the letter", () => {
    const compiled = "a();\nif (this.#locked) return $1[0];\nb();\n"
    expect(plantedText(planting, compiled)).toBe("a();\n$& // $1\nb();\n")
  })

  it("does not mind where lines break", () => {
    const compiled = "        if (this.#locked)\n            return $1[0];\n"
    expect(plantedText(planting, compiled)).toBe("        $& // $1\n")
    const onLines = { ...planting, from: "\n  if (this.#locked)\n    return $1[0];\n" }
    expect(plantedText(onLines, "{ if (this.#locked) return $1[0]; }")).toBe("{ $& // $1 }")
  })

  it("minds everything else", () => {
    expect(() => plantedText(planting, "if(this.#locked) return $1[0];")).toThrow("not there")
    expect(() => plantedText({ ...planting, from: "a.b" }, "a+b")).toThrow("not there")
  })

  it("says which it is and where, when its text is not there", () => {
    expect(() => plantedText(planting, "if (this.#isLocked) return $1[0];")).toThrow(
      "planting door-left-open: its text has to be in src/doors/door.ts, as compiled, exactly once, and is not there:\n" +
        "if (this.#locked) return $1[0];",
    )
  })

  it("says so when its text is there more than once", () => {
    const twice = `${planting.from} ${planting.from}`
    expect(() => plantedText(planting, twice)).toThrow(
      "door-left-open: its text has to be in src/doors/door.ts",
    )
    expect(() => plantedText(planting, twice)).toThrow("is there 2 times")
    expect(() => plantedText({ ...planting, from: " " }, "abc")).toThrow("is there 4 times")
  })
})
