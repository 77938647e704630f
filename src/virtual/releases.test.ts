import { expect, test } from "vitest"
import { ManualClock, settle } from "../../test/fake/manual-clock.js"
import type { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import type { Logger } from "../ports/logger.js"
import type { Revision } from "../ports/store.js"
import { NodeLife } from "../registry/node-life.js"
import type { Unregistration } from "../registry/registration.js"
import type { Tenure } from "../registry/tenure.js"
import { Releases } from "./releases.js"

const quiet: Logger = { enabled: () => false, log: () => {}, with: () => quiet }
const node = NodeId.of("10.0.0.1", 7_001, "a".repeat(16))
const member = NodeLife.begin(node).after({ kind: "joined", epoch: "e" })
const fenced = member.after({ kind: "fenced", because: "its lease was ended", cause: undefined })
const leaving = member.after({ kind: "asked-to-leave" })
const tenure = { id: { toString: () => "T/k" }, generation: 7, node } as unknown as Tenure

function scene() {
  const clock = new ManualClock()
  const discarded: number[] = []
  const answers: ((result: Unregistration) => void)[] = []
  const registry = {
    life: member,
    unregister: () => new Promise<Unregistration>((resolve) => answers.push(resolve)),
    discard: async (_id: ActorId, generation: Revision): Promise<Unregistration> => {
      discarded.push(generation)
      return "changed"
    },
  }
  const releases = new Releases({ registry, directoryOf: () => registry }, clock, quiet)
  const answer = (result: Unregistration) => answers.shift()?.(result)
  return { clock, discarded, registry, releases, answer }
}

test("retries a release that the store did not confirm", async () => {
  const { clock, discarded, releases, answer } = scene()
  void releases.release(tenure)
  answer("unknown")
  await settle()
  expect(releases.unconfirmed).toBe(1)
  await clock.advance(1_000)
  expect(discarded).toEqual([7])
  expect(releases.unconfirmed).toBe(0)
})

test.each([
  ["fenced", fenced],
  ["joining again", joiningAgain()],
  ["stopped", leaving.after({ kind: "stopped" })],
])("drops the unconfirmed releases of a node that is %s, even if one is answered later", async (_, life) => {
  const { clock, discarded, registry, releases, answer } = scene()
  void releases.release(tenure)
  void releases.release(tenure)
  answer("unknown")
  await settle()
  expect(releases.unconfirmed).toBe(1)
  registry.life = life
  releases.forget()
  answer("unknown")
  await settle()
  expect(releases.unconfirmed).toBe(0)
  await clock.advance(5_000)
  expect(discarded).toEqual([])
  expect(clock.pendingTimers).toBe(0)
})

test("a leaving node continues to retry releases", async () => {
  const { clock, discarded, registry, releases, answer } = scene()
  registry.life = leaving
  void releases.release(tenure)
  answer("unknown")
  await clock.advance(1_000)
  expect(discarded).toEqual([7])
})

function joiningAgain(): NodeLife {
  const next = NodeId.of("10.0.0.1", 7_001, "b".repeat(16))
  return fenced.after({ kind: "join-begun", node: next, because: "the node was fenced" })
}
