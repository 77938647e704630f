import { expect, test } from "vitest"
import { DialSlots } from "./dial-slots.js"

test("so many begin at once, the others in their order as those end; one that is not wanted any more never begins", () => {
  const slots = new DialSlots(2)
  const begun: string[] = []
  const end = new Map(
    ["a", "b", "c", "d", "e"].map((name) => [name, slots.take(() => begun.push(name))] as const),
  )
  expect(begun).toEqual(["a", "b"])
  end.get("c")?.()
  end.get("a")?.()
  expect(begun).toEqual(["a", "b", "d"])
  // Ending twice makes no more room.
  end.get("a")?.()
  expect(begun).toEqual(["a", "b", "d"])
  for (const name of ["b", "d", "e"]) end.get(name)?.()
  expect(begun).toEqual(["a", "b", "d", "e"])
  slots.take(() => begun.push("f"))
  slots.take(() => begun.push("g"))
  expect(begun.slice(4)).toEqual(["f", "g"])
})
