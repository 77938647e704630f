import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import type { Member, MemberStatus } from "./member.js"
import { MemberConnections } from "./member-connections.js"
import { decodeMembership, type MembershipMessage } from "./membership-wire.js"

const [a, b] = [1, 2].map((nth) => NodeId.of(`${"ab"[nth - 1]}.test`, 1, `${nth}`.repeat(16))) as [
  NodeId,
  NodeId,
]

test("a message for a node that is not connected waits until it is, and the latest one replaces it", () => {
  const { connections, did, online } = scene()
  connections.sendOrDial(a.text, ping)
  connections.sendOrDial(a.address, pong)
  online.add(a.address)
  connections.connected(a)
  connections.sendOrDial(a.text, ping)
  connections.connected(a)
  expect(did).toEqual(["keep a", "keep a", "drop a", "a pong", "a ping"])
})

test("a ping is sent to a connected node only", () => {
  const { connections, did, online } = scene()
  connections.send(a.text, ping)
  online.add(a.address)
  connections.send(a.text, ping)
  connections.connected(a)
  expect(did).toEqual(["a ping"])
})

test("a message is dropped after an interval, and its address dialled for 20", () => {
  const { connections, did, online } = scene()
  connections.sendOrDial(a.text, ping)
  for (let round = 0; round < 20; round += 1) connections.roundEnded()
  expect(did).toEqual(["keep a"])
  connections.roundEnded()
  expect(did).toEqual(["keep a", "drop a"])
  connections.sendOrDial(b.text, ping)
  connections.roundEnded()
  online.add(b.address)
  connections.connected(b)
  expect(did).toEqual(["keep a", "drop a", "keep b", "drop b"])
})

test("an observed node stays connected after its message, and one with a message after it is observed", () => {
  const { connections, did, online } = scene()
  connections.keep([a.text], membersAs("up"))
  connections.sendOrDial(a.text, ping)
  online.add(a.address)
  connections.connected(a)
  connections.sendOrDial(b.text, ping)
  connections.keep([b.text], membersAs("up"))
  connections.keep([], membersAs("up"))
  expect(did).toEqual(["keep a", "keep a", "a ping", "keep b", "keep b", "drop a"])
  connections.end()
  expect(did.slice(6)).toEqual(["drop b"])
})

test("a node that is exiting is neither kept nor dialled, unless another one is at its address", () => {
  const { connections, did } = scene()
  connections.keep([a.text, b.text], membersAs("exiting"))
  connections.sendOrDial(a.text, ping)
  expect(did).toEqual(["keep b"])
  const next = NodeId.of(a.host, a.port, "3".repeat(16))
  connections.keep([a.text, b.text], [...membersAs("exiting"), member(next, "joining")])
  expect(did).toEqual(["keep b", "keep a"])
})

const ping: MembershipMessage = { kind: "ping" }
const pong: MembershipMessage = { kind: "pong" }

function scene() {
  const did: string[] = []
  const online = new Set<string>()
  const connections = new MemberConnections({
    keep: (address, isKept) => void did.push(`${isKept ? "keep" : "drop"} ${address[0]}`),
    sendMembership: (address, payload) => {
      if (!online.has(address)) return false
      did.push(`${address[0]} ${decodeMembership(Buffer.from(payload))?.kind}`)
      return true
    },
  })
  return { connections, did, online }
}

function membersAs(status: MemberStatus): readonly Member[] {
  return [member(a, status), member(b, "up")]
}

function member(node: NodeId, status: MemberStatus): Member {
  return { node, status, roles: [], types: [], age: 1 }
}
