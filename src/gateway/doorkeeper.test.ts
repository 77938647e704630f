import { expect, test } from "vitest"
import { importPlanted } from "../../test/golden/planted-import.js"
import { scopedOperation } from "./doorkeeper.js"

const callers = ["ada", "ada 1", "1 ada", "", "3 ada", "bob"].map((id) => ({ id }))
const operations = ["k", "1 k", " k", "k ", "3 ada k", "bob"]

test("operations of two principals, or two of one, never have the same name", () => {
  expect(new Set(namesBy(scopedOperation)).size).toBe(callers.length * operations.length)
})

test("the test above finds operations that are not scoped by principal", async () => {
  const url = new URL("./doorkeeper.ts", import.meta.url)
  for (const to of ["[operation]", "[id, operation]"]) {
    const change = { from: "[id.length, id, operation]", to }
    const planted = await importPlanted<{ scopedOperation: typeof scopedOperation }>(url, change)
    expect(new Set(namesBy(planted.scopedOperation)).size).toBeLessThan(callers.length * operations.length)
  }
})

function namesBy(scoped: typeof scopedOperation): string[] {
  return callers.flatMap((caller) => operations.map((operation) => scoped(caller, operation)))
}
