import { expect, test } from "vitest"
import { isFitForLines, isOurs } from "./line-directory.js"

test.runIf(process.platform === "linux")(
  "a file system of an unknown kind is not fit for lines",
  async () => {
    const directory = `/proc/${process.pid}`
    expect(await isOurs(directory)).toBe(true)
    expect(await isFitForLines(directory)).toBe(false)
  },
)
