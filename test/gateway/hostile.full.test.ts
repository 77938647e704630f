import { it } from "vitest"
import { besiegeWithFrames, besiegeWithRequests } from "./siege.js"

it("answers none of 30,000 hostile requests but those that it may", { timeout: 600_000 }, () =>
  besiegeWithRequests(30_000),
)

it("survives 70,000 hostile frames", { timeout: 600_000 }, () => besiegeWithFrames(70_000))
