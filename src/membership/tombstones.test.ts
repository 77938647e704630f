import { expect, it } from "vitest"
import { aboutOf, NODES, stateOf } from "../../test/fake/gossip-states.js"
import type { GossipState } from "./gossip-state.js"
import type { MemberStatus } from "./member.js"
import { Tombstones } from "./tombstones.js"

const [A = "", B = "", C = "", X = ""] = NODES
const WAIT_MS = 60_000

it("keeps a tombstone for 60 rounds, and then until every member has said a new word that agrees", () => {
  const { state, prune } = removed({ [B]: "up", [C]: "up" })
  prune(0)
  agree(state, B)
  agree(state, C)
  prune(WAIT_MS - 1)
  agree(state, B)
  agree(state, C)
  prune(WAIT_MS)
  expect(state.get(X)?.status).toBe("removed")
  agree(state, B)
  prune(WAIT_MS)
  expect(state.get(X)?.status, "C says what it said before the end of the wait").toBe("removed")
  agree(state, C)
  prune(WAIT_MS)
  expect(state.get(X)).toBeUndefined()
})

it("keeps a tombstone while a member has seen other members", () => {
  const { state, prune } = removed({ [B]: "up" })
  prune(0)
  prune(WAIT_MS)
  say(state, B, state.digest + 1)
  prune(WAIT_MS)
  expect(state.get(X)?.status).toBe("removed")
  agree(state, B)
  prune(WAIT_MS)
  expect(state.get(X)).toBeUndefined()
})

it.each<[MemberStatus, boolean]>([
  ["joining", true],
  ["up", true],
  ["leaving", true],
  ["exiting", true],
  ["down", false],
  ["removed", false],
])("asks a member that is %s: %s", (status, isAsked) => {
  const { state, prune } = removed({ [B]: status })
  prune(0)
  prune(WAIT_MS)
  prune(WAIT_MS)
  expect(state.get(X) !== undefined).toBe(isAsked)
})

function removed(others: Readonly<Record<string, MemberStatus>>) {
  const state = stateOf(
    Object.entries({ [A]: "up" as const, ...others, [X]: "removed" as const }).map(([node, status]) => ({
      node,
      status,
      upNumber: undefined,
      about: aboutOf(node),
      word: undefined,
    })),
  )
  const tombstones = new Tombstones(1_000)
  return { state, prune: (now: number) => tombstones.prune(state, A, now) }
}

function agree(state: GossipState, node: string): void {
  say(state, node, state.digest)
}

function say(state: GossipState, node: string, seen: number): void {
  const version = (state.get(node)?.word?.version ?? 0) + 1
  state.hear(node, { version, unreachable: [], seen, figures: { busy: 0, activations: 0 } }, 0)
}
