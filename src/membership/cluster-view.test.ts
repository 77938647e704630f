import { describe, expect, it } from "vitest"
import { NodeId } from "../address/node-id.js"
import { ClusterView } from "./cluster-view.js"
import type { Member, MemberStatus } from "./member.js"
import { changesBetween } from "./member-events.js"

const A = NodeId.of("a.test", 1, "00000000000000a1")
const B = NodeId.of("b.test", 1, "00000000000000b1")
const C = NodeId.of("c.test", 1, "00000000000000c1")

function member(node: NodeId, status: MemberStatus = "up", types: readonly string[] = ["T"]): Member {
  return { node, status, roles: [], types, age: 1 }
}

const three = ClusterView.empty.next([member(C), member(A), member(B)])

/** Events as `Name node`. */
function told(before: ClusterView, after: ClusterView): readonly string[] {
  return changesBetween(before, after, 5).map((event) => {
    expect(event.at).toBe(5)
    const subject = "leader" in event ? event.leader : event.node
    return `${event.constructor.name} ${subject?.host.slice(0, 1) ?? "nobody"}`
  })
}

describe("a view", () => {
  it("has its members sorted, and each next view a higher version", () => {
    expect(three.members.map(({ node }) => node)).toEqual([A, B, C])
    expect(three.next([]).version).toBe(three.version + 1)
  })

  it("knows who cannot be reached, and forgets it of those that are gone", () => {
    const view = three.next(three.members, new Map([[B.text, [A, C]]]))
    expect(view.isReachable(A)).toBe(true)
    expect(view.isReachable(B)).toBe(false)
    expect(view.unreachable.get(B.text)).toEqual([A, C])
    expect(view.next([member(A)]).unreachable.size).toBe(0)
    expect(view.isReachable(NodeId.of("d.test", 1, "00000000000000d1"))).toBe(false)
  })

  it("is led by the lowest address of those that are up and can be reached", () => {
    expect(three.leader).toEqual(A)
    expect(three.next(three.members, new Map([[A.text, [B]]])).leader).toEqual(B)
    expect(three.next([member(A, "leaving"), member(B, "joining"), member(C)]).leader).toEqual(C)
    expect(ClusterView.empty.leader).toBeUndefined()
  })

  it("hosts new actors where they can be reached, and anywhere if that is nowhere", () => {
    const hosts = (view: ClusterView) => view.hosting("T").map(({ node }) => node)
    expect(hosts(three.next(three.members, new Map([[A.text, [B]]])))).toEqual([B, C])
    const none = new Map([A, B, C].map((node) => [node.text, [A]]))
    expect(hosts(three.next(three.members, none))).toEqual([A, B, C])
    expect(hosts(three.next([member(A, "leaving"), member(B, "up", [])]))).toEqual([])
  })
})

describe("the events between two views", () => {
  it("tell of every status", () => {
    const all: readonly MemberStatus[] = ["joining", "up", "leaving", "exiting", "down"]
    let before = ClusterView.empty
    const heard = all.flatMap((status) => {
      const after = before.next([member(A), member(B, status)])
      const events = told(before, after)
      before = after
      return events
    })
    expect(heard).toEqual([
      "MemberUp a",
      "MemberJoining b",
      "LeaderChanged a",
      "MemberUp b",
      "MemberLeaving b",
      "MemberExiting b",
      "MemberDowned b",
    ])
  })

  it("tell whether a member left or was removed", () => {
    const before = ClusterView.empty.next([member(A, "exiting"), member(B, "leaving"), member(C)])
    expect(told(before, before.next([]))).toEqual([
      "MemberLeft a",
      "MemberLeft b",
      "MemberRemoved c",
      "LeaderChanged nobody",
    ])
    const down = ClusterView.empty.next([member(A, "down")])
    expect(told(down, down.next([]))).toEqual(["MemberRemoved a"])
  })

  it("tell who cannot be reached, and who can again", () => {
    const cut = three.next(three.members, new Map([[A.text, [B, C]]]))
    expect(told(three, cut)).toEqual(["UnreachableMember a", "LeaderChanged b"])
    expect(told(cut, cut.next(cut.members, new Map([[A.text, [B]]])))).toEqual([])
    expect(told(cut, cut.next(cut.members, new Map()))).toEqual(["ReachableMember a", "LeaderChanged a"])
    const down = cut.next([member(A, "down"), member(B), member(C)], new Map())
    expect(told(cut, down)).toEqual(["MemberDowned a"])
  })
})
