import { once } from "node:events"
import { expect, test } from "vitest"
import { endingOf } from "../../tools/child-process.js"
import { startProgram } from "./node-process.js"

test("a node that is called while its lease is being given up refuses, and nothing keeps its process once it has stopped", async () => {
  const child = startProgram("leaving", "")
  const ending = endingOf(child)
  const [{ outcomes, left }] = (await once(child, "message")) as [
    { readonly outcomes: readonly string[]; readonly left: readonly string[] },
  ]
  expect(left.filter((resource) => resource === "Timeout")).toEqual([])
  expect(outcomes.length).toBeGreaterThan(0)
  expect(new Set(outcomes)).toEqual(new Set(["Placement, not-delivered"]))
  expect(await ending).toBe("exit code 0")
})
