import type { Step } from "../explorer/model.js"
import { passDoor } from "./activation-steps.js"
import { type Here, processAt, spend } from "./here.js"
import { nameOf } from "./request-steps.js"
import { mayAct, type Setting } from "./setting.js"
import type { Check } from "./store.js"
import { entryOf, holderOf, NOBODY, noCall, type Placement, type Process, type World } from "./world.js"

/**
 * A call: resolved by the caller's cache or the store, sent, and then handled, redirected by a node where the actor is not, or
 * waiting there for a claim.
 */
export function* callSteps(here: Here): Iterable<Step<World>> {
  const { world, setting } = here
  if (setting.left.calls === undefined) return
  for (const [at, { phase, cache }] of world.processes.entries()) {
    if (phase === "off") continue
    if (cache.rev < world.placement.rev) {
      yield here.take(`Watch(${"abcd"[at]})`, (next, check) =>
        learn(processAt(next, at), next.placement, setting, check),
      )
    }
    if (phase === "up" && world.call.stage === "none" && here.may("calls")) {
      yield here.take(`Call(${"abcd"[at]})`, (next) => {
        spend(next, "calls")
        next.call = { ...noCall(), stage: "resolving", from: at }
      })
    }
  }
  switch (world.call.stage) {
    case "resolving":
      yield* resolve(here)
      break
    case "travelling":
      yield* deliver(here)
      break
    case "arrived":
      yield* receive(here)
      break
    case "redirected":
      yield here.take("Follow", (next, check) => {
        const caller = processAt(next, next.call.from)
        learn(caller, { rev: next.call.rev, at: next.call.to }, setting, check)
        next.call = {
          ...next.call,
          ...(caller.cache.at === NOBODY ? RESOLVING : { stage: "travelling", to: caller.cache.at, rev: 0 }),
        }
      })
      break
    case "done":
      yield reply(here)
  }
}

const RESOLVING = { stage: "resolving", to: NOBODY, rev: 0 } as const

/** Lower never replaces higher. */
function learn(process: Process, placement: Placement, { bugs }: Setting, check: Check): void {
  if (placement.rev <= process.cache.rev && !bugs.includes("cache-goes-back")) return
  check("CacheOrder", placement.rev >= process.cache.rev)
  process.cache = { ...placement }
}

function* resolve(here: Here): Iterable<Step<World>> {
  const { world, setting } = here
  const { cache } = processAt(world, world.call.from)
  const isNamed = world.placement.at !== NOBODY && entryOf(world, world.placement.at) !== undefined
  const candidates = cache.at !== NOBODY ? [cache.at] : isNamed ? [world.placement.at] : activeNodes(world)
  for (const to of candidates) {
    yield here.take(`Resolve(${nameOf(to)})`, (next, check) => {
      if (cache.at === NOBODY) learn(processAt(next, next.call.from), next.placement, setting, check)
      next.call = { ...next.call, stage: "travelling", to }
    })
  }
}

/** Where nothing is placed, a strategy chooses: any node that is up. */
function activeNodes({ nodes, processes }: World): number[] {
  const active = nodes.filter(({ record }) => record === "active").map(({ id }) => id)
  return active.filter((id) => processes.some((process) => process.id === id && process.phase === "up"))
}

function* deliver(here: Here): Iterable<Step<World>> {
  const { world } = here
  const { to, from } = world.call
  if (holderOf(world, to) !== undefined) {
    yield here.take(`Deliver(${nameOf(to)})`, (next) => {
      next.call.stage = "arrived"
    })
  } else if (entryOf(world, to) === undefined) {
    yield here.take(`Bounce(${nameOf(to)})`, (next) => {
      const { cache } = processAt(next, from)
      if (cache.at === to) cache.at = NOBODY
      next.call = { ...next.call, ...RESOLVING }
    })
  }
}

function* receive(here: Here): Iterable<Step<World>> {
  const { world, setting } = here
  const { to, forwards } = world.call
  const receiver = holderOf(world, to)
  if (receiver === undefined) return
  const { stage } = receiver.activation
  if (stage === "running" && receiver.leaving !== "yes" && mayAct(receiver, setting.timing)) {
    yield here.take(`Handle(${nameOf(to)})`, (next, check) => {
      passDoor(next, receiver, check)
      next.call.stage = "done"
    })
  }
  const { at } = world.placement
  const isElsewhere = at !== NOBODY && at !== to && entryOf(world, at) !== undefined
  if (stage !== "none" || !(isElsewhere || receiver.leaving !== "no")) return
  yield here.take(`Redirect(${nameOf(to)})`, (next, check) => {
    if (forwards === MAX_FORWARDS) {
      next.call = noCall()
      return
    }
    check("TwoForwards", forwards < MAX_FORWARDS)
    const { call } = next
    call.forwards += 1
    if (isElsewhere)
      Object.assign(call, { stage: "redirected", to: next.placement.at, rev: next.placement.rev })
    else Object.assign(call, RESOLVING)
  })
}

const MAX_FORWARDS = 2

function reply(here: Here): Step<World> {
  const { world, setting } = here
  const { to } = world.call
  const receiver = holderOf(world, to)
  const isOpen = receiver?.activation.stage === "running" && mayAct(receiver, setting.timing)
  return here.take(`${isOpen ? "Reply" : "ReplyUnknown"}(${nameOf(to)})`, (next, check) => {
    if (receiver !== undefined && isOpen) passDoor(next, receiver, check)
    next.call = noCall()
  })
}
