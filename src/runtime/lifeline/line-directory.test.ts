import { expect, test } from "vitest"
import { flawOfDirectory, isOurs } from "./line-directory.js"

test.runIf(process.platform === "linux")(
  "a file system of an unknown kind is not fit for lines",
  async () => {
    const directory = `/proc/${process.pid}`
    expect(await isOurs(directory)).toBe(true)
    expect(await flawOfDirectory(directory)).toContain("must be on a file system that is known to be local")
  },
)
