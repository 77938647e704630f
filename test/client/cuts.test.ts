import { it } from "vitest"
import { cutEverywhere } from "./cuts.js"

it.each(["gateway", "client"] as const)(
  "a once call is applied once, wherever what the %s says is cut off: each seventh byte",
  (of) => cutEverywhere(of, 7),
)
