import { expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import type { Call } from "./call.js"
import { Route, type RouteBus } from "./route.js"

const id = ActorId.of("test", "Echo", "k")
const node = NodeId.of("10.0.0.1", 4_000, "0123456789abcdef")

/** A route that is open to a node, and so many calls that are under way there. */
function busy(count: number) {
  const bus: RouteBus = {
    mailboxCapacity: 10_000,
    find: (route) => route.leadsTo(node),
    send: () => {},
    askedOf: () => node,
    withdraw: () => "unknown",
    countTime: () => {},
    setTimer: () => ({ cancel: () => {} }),
    callEnded: () => {},
    over: () => {},
  }
  const route = new Route(id, "Echo/k", bus)
  const calls = Array.from({ length: count }, (_, index) => call(index + 1))
  for (const one of calls) route.accept(one)
  return { route, calls }
}

function call(order: number): Call {
  return {
    order,
    isOver: false,
    attempts: 0,
    endIfOvertaken: () => {},
    exitOpened: () => undefined,
  } as Call & object
}

test("knows the oldest of however many calls are under way", () => {
  const { route, calls } = busy(150_000)
  expect(route.oldest).toBe(1)
  route.ended(calls[0] as Call)
  expect(route.oldest).toBe(2)
})
