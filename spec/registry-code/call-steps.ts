import { ActorId } from "../../src/address/actor-id.js"
import { FencedError, NodeUnreachableError } from "../../src/errors/call-errors.js"
import { placementSeen } from "../../src/registry/commits.js"
import { CallRouting } from "../../src/virtual/call-routing.js"
import { moved, notHere } from "../../src/virtual/placement-answer.js"
import { type Commands, type RoutableCall, RoutedCall } from "../../src/virtual/routing-protocol.js"
import type { Step } from "../explorer/model.js"
import { passDoor } from "./activation-steps.js"
import { type CacheTold, idOf, mayAct, mayClaim, nameOf, tellCache } from "./decisions.js"
import type { Check, Here } from "./here.js"
import { EPOCH, entryAt, revisionAt } from "./model-store.js"
import { statusOf } from "./request-steps.js"
import type { Setting } from "./setting.js"
import {
  type Activation,
  type Call,
  type Caller,
  isMember,
  nodeOf,
  PLACEMENT,
  type Process,
  spend,
  type World,
} from "./world.js"

/**
 * Steps of one call at a time, made by a node beside the two processes. The caller finds the actor by its
 * cache or the store; the call is then handled, or refused by a node that does not have the actor, and
 * retried.
 *
 * The caller's side is the production decision, `CallRouting`. It has no snapshot, but all that it knows of a
 * single call is in the call itself: each step brings a new one to the same point (`routingOf`).
 */
export function* callSteps(here: Here): Iterable<Step<World>> {
  const { caller } = here.world
  if (caller === undefined) return
  yield* hearing(here, caller)
  const { call } = caller
  switch (call?.stage) {
    case undefined:
      if (here.may("calls")) {
        yield here.take("Call", (next) => {
          spend(next, "calls")
          callerIn(next).call = { stage: "resolving", attempts: 0, forwards: 0, refusedBy: [], followed: 0 }
        })
      }
      break
    case "paused":
      yield routed(here, "Retry", (routing) => routing.tick())
      break
    case "resolving":
      yield* resolving(here, caller, call)
      break
    case "queued":
    case "arrived":
      yield* sent(here, call)
      break
    case "run":
      yield reply(here, call)
  }
}

/** What the caller learns from the view of the cluster. Nobody tells it of placements, unless it calls. */
function* hearing(here: Here, { cache }: Caller): Iterable<Step<World>> {
  const { world } = here
  const named = cache?.node
  if (named === undefined || revisionAt(world, `nodes/${named}`) !== undefined) return
  yield here.take(`Forget(c, ${named})`, (next, check) =>
    hear(next, { kind: "node-gone", node: named }, here.setting, check),
  )
}

function* resolving(here: Here, { cache }: Caller, { refusedBy }: Call): Iterable<Step<World>> {
  const { world, setting } = here
  const isThere = (node: string | undefined): node is string =>
    node !== undefined && revisionAt(world, `nodes/${node}`) !== undefined
  // A placement on a node that leaves is read again.
  const isCached = cache?.node !== undefined && hosts(world).includes(cache.node)
  const placed = isCached ? cache?.node : placementSeen(entryAt(world, PLACEMENT))?.node
  const chosen = isThere(placed) ? [placed] : hosts(world).filter((node) => !refusedBy.includes(node))
  const asked = (next: World, check: Check): void => {
    if (isCached) return
    callIn(next).followed = 0
    hear(next, { kind: "read", hint: placementHint(world) }, setting, check)
  }
  for (const node of chosen) {
    yield routed(
      here,
      `Resolve(${node})`,
      (routing) => routing.resolved(1, { kind: "node", node: idOf(node) }),
      (next, check) => {
        asked(next, check)
        if (!isThere(placed)) hear(next, { kind: "expected", node }, setting, check)
      },
    )
  }
  if (chosen.length > 0) return
  const answer = { kind: "refused", error: undefined, hosts: "were-seen" } as const
  yield routed(here, "NotResolved", (routing) => routing.resolved(1, answer), asked)
}

function* sent(here: Here, { stage, node = "" }: Call): Iterable<Step<World>> {
  const { world, setting } = here
  if (revisionAt(world, `nodes/${node}`) === undefined) {
    yield routed(here, `NodeGone(${node})`, (routing) => routing.nodeGone(idOf(node), false))
  }
  const at = world.processes.findIndex((process, index) => process.isUp && nodeOf(index, process) === node)
  const receiver = world.processes[at]
  if (stage === "queued") {
    if (receiver === undefined) {
      const error = new NodeUnreachableError(node, "not-delivered", "its process is gone")
      yield routed(here, `Bounce(${node})`, (routing, call) => routing.cameBack(call, error, 0))
    } else {
      yield here.take(`Deliver(${node})`, (next) => {
        callIn(next).stage = "arrived"
      })
    }
    return
  }
  if (receiver !== undefined) yield* received(here, node, receiver, setting)
}

function* received(here: Here, node: string, receiver: Process, setting: Setting): Iterable<Step<World>> {
  const { world } = here
  const { activation } = receiver
  if (!isMember(receiver)) {
    const error = new FencedError(node, "not-delivered", "its lease was ended")
    yield routed(here, `Refuse(${node})`, (routing, call) => routing.cameBack(call, error, 0))
    return
  }
  if (isTakingTurns(activation) && mayClaim(receiver, setting)) {
    yield here.take(`Handle(${node})`, (next, check) => {
      passDoor(next, node, activation, check)
      callIn(next).stage = "run"
    })
  }
  if (activation !== undefined) return
  const hint = placementHint(world)
  if (receiver.lease?.state.kind === "leaving") {
    const error = notHere(ACTOR, "the node leaves")
    yield routed(here, `NotHere(${node})`, (routing, call) => routing.cameBack(call, error, 0))
  } else if (hint.node !== undefined && hint.node !== node && statusOf(world, hint.node) !== undefined) {
    const where = { kind: "placed", node: idOf(hint.node), generation: hint.revision } as const
    const error = moved(ACTOR, where.node, { epoch: EPOCH, where })
    yield routed(here, `Redirect(${node})`, (routing, call) => routing.cameBack(call, error, 0))
  }
}

function reply(here: Here, { node = "" }: Call): Step<World> {
  const { world, setting } = here
  const receiver = world.processes.find((process, at) => nodeOf(at, process) === node && isMember(process))
  const activation = receiver?.activation
  const isOpen = receiver !== undefined && isTakingTurns(activation) && mayAct(receiver, setting)
  return here.take(`${isOpen ? "Reply" : "ReplyUnknown"}(${node})`, (next, check) => {
    if (isOpen) passDoor(next, node, activation as Activation, check)
    callerIn(next).call = undefined
  })
}

/** A step in which routing handles an event, and its commands are carried out. */
function routed(
  here: Here,
  label: string,
  told: (routing: CallRouting<RoutableCall>, call: RoutedCall<RoutableCall>) => Commands<RoutableCall>,
  first: (next: World, check: Check) => void = () => {},
): Step<World> {
  const { setting } = here
  return here.take(label, (next, check) => {
    first(next, check)
    const call = callIn(next)
    const { routing, routed } = routingOf(call, setting)
    const commands = told(routing, routed)
    const { forwards, refusedBy } = routed
    Object.assign(call, {
      forwards,
      refusedBy: refusedBy.map(nameOf),
      attempts: Math.min(routed.attempts, 1),
    })
    for (const command of commands) follow(next, command, setting, check)
  })
}

function follow(next: World, command: Commands<RoutableCall>[number], setting: Setting, check: Check): void {
  const call = callIn(next)
  switch (command.kind) {
    case "resolve":
    case "wait":
      call.stage = command.kind === "wait" ? "paused" : "resolving"
      delete call.node
      break
    case "send":
      call.stage = "queued"
      call.node = nameOf(command.node)
      break
    case "learn": {
      const { where } = command
      const hint =
        where.kind === "placed"
          ? { node: nameOf(where.node), revision: where.generation }
          : { node: undefined, revision: where.revision }
      hear(next, { kind: "misdirected", hint }, setting, check)
      call.followed += 1
      break
    }
    case "forget":
      hear(next, { kind: "doubted" }, setting, check)
      call.followed = 0
      break
    case "fail":
      callerIn(next).call = undefined
  }
  if (command.kind === "resolve") check("TwoForwards", call.followed <= MAX_FORWARDS)
}

function routingOf(
  { stage, node, attempts, forwards, refusedBy }: Call,
  { bugs }: Setting,
): { routing: CallRouting<RoutableCall>; routed: RoutedCall<RoutableCall> } {
  const maxForwards = bugs.includes("forwards-unlimited") ? Number.POSITIVE_INFINITY : MAX_FORWARDS
  const placeOf = (_: RoutableCall, sentTo: ReturnType<typeof idOf>) =>
    stage === "queued" ? "queued" : sentTo
  const routing = new CallRouting<RoutableCall>({ capacity: 1, maxForwards }, { placeOf })
  const routed = new RoutedCall<RoutableCall>(CALL, 0)
  if (stage === "paused") routed.attempts = 1
  routing.called(routed)
  if (node !== undefined) {
    routing.resolved(1, { kind: "node", node: idOf(node) })
    routing.sent()
  }
  Object.assign(routed, { attempts, forwards, refusedBy: refusedBy.map(idOf) })
  return { routing, routed }
}

function hear(next: World, event: CacheTold, setting: Setting, check: Check): void {
  const learned = tellCache(callerIn(next), event, setting)
  if (learned !== undefined) check("CacheOrder", learned.now >= learned.before)
}

function placementHint(world: World): { node: string | undefined; revision: number } {
  return { node: placementSeen(entryAt(world, PLACEMENT))?.node, revision: world.placedAt }
}

/** Where nothing is placed a strategy chooses: any node whose record is active. */
function hosts({ store }: World): string[] {
  return store
    .filter(({ key, value }) => key.startsWith("nodes/") && value.includes('"active"'))
    .map(({ key }) => key.slice("nodes/".length))
}

function isTakingTurns(activation: Activation | undefined): activation is Activation {
  return activation?.stage === "running" || activation?.stage === "saving"
}

function callerIn(world: World): Caller {
  return world.caller as Caller
}

function callIn(world: World): Call {
  return callerIn(world).call as Call
}

const ACTOR = ActorId.of("model", "Actor", "x")
const CALL: RoutableCall = { order: 1, callTimeoutMs: Number.POSITIVE_INFINITY, isOver: false, exit: "open" }

/** The default of `maxForwards`. */
const MAX_FORWARDS = 2
