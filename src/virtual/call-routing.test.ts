import { join } from "node:path"
import { expect, test } from "vitest"
import { importPlanted } from "../../test/golden/planted-import.js"
import { expectScenarios, firstFailing } from "../../test/golden/scenario-file.js"
import { NodeId } from "../address/node-id.js"
import { PlacementError, UnknownActorTypeError } from "../errors/actor-call-errors.js"
import { type CallError, NodeUnreachableError } from "../errors/call-errors.js"
import { CallRouting } from "./call-routing.js"
import {
  type Commands,
  type RoutableCall,
  RoutedCall,
  type RoutingAnswer,
  type RoutingCommand,
} from "./routing-protocol.js"

test("matches its scenarios", async () => {
  await expectScenarios(SCENARIOS, () => {
    const scene = new Scene()
    return (line) => scene.happen(line)
  })
})

test.each([
  {
    bug: "calls are resent in the order in which they came back",
    from: "this.#queue.sort((a, b) => a.call.order - b.call.order)",
    to: "",
  },
  {
    bug: "a call that came back is resent while others are in flight",
    from: `if (this.#step !== "none" || this.#inFlight.length > 0) return NONE`,
    to: `if (this.#step !== "none") return NONE`,
  },
  {
    bug: "a call that is made while others come back is sent ahead of them",
    from: '    this.#node = undefined\n    if (this.#step === "draining") this.#step = "none"\n    this.#remove(routed)',
    to: "    this.#remove(routed)",
  },
  {
    bug: "calls that are queued for the connection behind one that came back are not recalled",
    from: "...this.#recallBehind(routed)",
    to: "...NONE",
  },
  {
    bug: "a call that has left is recalled",
    from: "if (last.call.order < call.order || !this.#isQueuedOutside(last)) break",
    to: "if (last.call.order < call.order) break",
  },
  {
    bug: "a call that was sent to a node that is gone is resent",
    from: `failures.push({ kind: "fail", routed, because: "node-gone" })`,
    to: "this.#resend(routed)",
  },
  {
    bug: "a call whose maker was superseded is sent",
    from: `if (this.#queue.some(({ call }) => call.isOver || call.exit === "shut")) {`,
    to: "if (this.#queue.some(({ call }) => call.isOver)) {",
  },
  {
    bug: "the queue is drained although the connection refused its first call",
    from: `    this.#node = undefined\n    if (this.#step === "draining") this.#step = "none"\n    this.#remove(routed)`,
    to: "    this.#node = undefined\n    this.#remove(routed)",
  },
  {
    bug: "a call in flight elsewhere is overtaken by one that is delivered here",
    from: `if (this.#inFlight.length > 0 || this.#step === "over") return NONE`,
    to: `if (this.#step === "over") return NONE`,
  },
  {
    bug: "a node that refused is not excluded",
    from: "excluded: first.refusedBy }",
    to: "excluded: NONE }",
  },
  {
    bug: "an outdated answer is followed",
    from: `if (this.#step !== "resolving" || request !== this.#requests) return NONE`,
    to: "",
  },
  {
    bug: "calls of an ended activation are routed before its release has ended",
    from: `this.#step = "held"\n    else`,
    to: `this.#step = "none"\n    else`,
  },
])("a scenario finds that $bug", async (change) => {
  const url = new URL("./call-routing.ts", import.meta.url)
  const planted = await importPlanted<{ CallRouting: typeof CallRouting }>(url, change)
  const found = firstFailing(SCENARIOS, () => {
    const scene = new Scene(3, planted.CallRouting)
    return (line) => scene.happen(line)
  })
  expect(found).toBeDefined()
})

test("knows the oldest of 150,000 calls in flight", () => {
  const scene = new Scene(200_000)
  scene.happen("call 1")
  scene.happen("node b")
  for (let order = 2; order <= 150_000; order += 1) scene.call(order)
  expect(scene.routing.oldest).toBe(1)
  scene.happen("ends 1")
  expect(scene.routing.oldest).toBe(2)
})

const SCENARIOS = join(import.meta.dirname, "call-routing.scenarios.txt")

class FakeCall implements RoutableCall {
  readonly callTimeoutMs = 1_000
  isOver = false
  /** The place that the connection reports. */
  place: NodeId | "queued" | "unknown" = "unknown"

  readonly order: number
  exit: RoutableCall["exit"]

  constructor(order: number, exit: RoutableCall["exit"]) {
    this.order = order
    this.exit = exit
  }
}

/** A routing with its calls, and a driver that records the commands. */
class Scene {
  routing: CallRouting<FakeCall>
  readonly #make: (known?: NodeId) => CallRouting<FakeCall>
  readonly #calls = new Map<number, RoutedCall<FakeCall>>()
  readonly #pending: RoutingCommand<FakeCall>[] = []
  #now = 0
  #request = 0
  #isQueueing = false
  #isRefusing = false

  constructor(capacity = 3, Routing = CallRouting) {
    this.#make = (known) =>
      new Routing({ capacity, maxForwards: 2 }, { placeOf: ({ place }) => place }, known)
    this.routing = this.#make()
  }

  happen(line: string): string {
    const [what, name = "", ...rest] = line.split(" ")
    const done = this.#do(this.#event(what as string, name, rest.join(" ")))
    const { state, queued, inFlight } = this.routing
    return [...done, `[${state}, ${queued} queued, ${inFlight} in flight]`].join(", ")
  }

  call(order: number): void {
    this.#do(this.routing.called(this.#made(order, "open")))
  }

  #event(what: string, name: string, rest: string): Commands<FakeCall> {
    const { routing } = this
    const routed = this.#calls.get(Number(name)) as RoutedCall<FakeCall>
    switch (what) {
      case "known":
        this.routing = this.#make(NODES[name])
        return []
      case "at":
        this.#now = Number(name)
        return []
      case "queue":
        this.#isQueueing = true
        return []
      case "refuse":
        this.#isRefusing = true
        return []
      case "reached":
        routed.call.place = NODES[rest] as NodeId
        return []
      case "opens":
        routed.call.exit = "open"
        return []
      case "shut":
        routed.call.exit = "shut"
        return []
      case "call":
        return routing.called(this.#made(Number(name), rest === "waits" ? "waits" : "open"))
      case "return":
        return routing.returned([this.#made(Number(name), "open")], {
          isReleasing: rest === "releasing",
          isUnused: rest === "unused",
        })
      case "back":
        return routing.cameBack(routed, errorOf(rest), this.#now)
      case "ends":
        routed.call.isOver = true
        return routing.ended(routed)
      case "gone":
        return routing.nodeGone(NODES[name] as NodeId, rest === "left")
      case "activated":
        return routing.activatedHere()
      case "superseded":
        return routing.makersSuperseded()
      case "released":
        return routing.released()
      case "tick":
        return routing.tick()
      case "stop":
        return routing.stop()
      default:
        return routing.resolved(this.#request, answerOf(what, name))
    }
  }

  #made(order: number, exit: RoutableCall["exit"]): RoutedCall<FakeCall> {
    const routed = new RoutedCall(new FakeCall(order, exit), this.#now)
    this.#calls.set(order, routed)
    return routed
  }

  /** Carries out commands in order; those that result from one run after all that were issued with it. */
  #do(commands: Commands<FakeCall>): string[] {
    const said: string[] = []
    this.#pending.push(...commands)
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      said.push(...this.#say(next))
    }
    return said
  }

  #say(command: RoutingCommand<FakeCall>): string[] {
    switch (command.kind) {
      case "resolve": {
        this.#request = command.request
        const excluded = command.excluded.map(nameOf).join(" ")
        return [excluded === "" ? "resolve" : `resolve without ${excluded}`]
      }
      case "send":
        return this.#send(command.routed, command.node)
      case "deliver":
        return [`deliver ${command.routed.call.order}`]
      case "recall":
        return [`recall ${command.routed.call.order} from ${nameOf(command.node)}`]
      case "fail": {
        const { routed, because } = command
        routed.call.isOver = true
        this.#pending.push(...this.routing.ended(routed))
        return [`fail ${routed.call.order}: ${because}`]
      }
      case "wait":
        return [`wait ${command.ms} ms`]
      case "hold":
        return [`hold for ${command.routed.call.order}`]
      case "learn":
        return [`learn ${command.where.kind === "placed" ? nameOf(command.where.node) : "absent"}`]
      default:
        return [command.kind]
    }
  }

  #send(routed: RoutedCall<FakeCall>, node: NodeId): string[] {
    const { call, isResent } = routed
    const said = `send ${call.order} to ${nameOf(node)}${isResent ? " again" : ""}`
    if (this.#isRefusing) {
      this.#isRefusing = false
      this.#pending.push(...this.routing.cameBack(routed, errorOf("unreachable"), this.#now))
      this.#pending.push(...this.routing.sent())
      return [said, `${call.order} is refused`]
    }
    call.place = this.#isQueueing ? "queued" : node
    this.#pending.push(...this.routing.sent())
    return [said]
  }
}

const NODES: Readonly<Record<string, NodeId>> = Object.fromEntries(
  ["a", "b", "c"].map((name) => [name, NodeId.of(`${name}.example`, 4_000, "0123456789abcdef")]),
)

function nameOf(node: NodeId): string {
  return node.toString().slice(0, 1)
}

function errorOf(said: string): CallError {
  if (said === "unreachable")
    return new NodeUnreachableError("b.example:4000", "not-delivered", "the node is down")
  if (said === "not here") return new PlacementError("shop/Cart/1", "not-here", "not here")
  const node = (NODES[said.slice("moved to ".length)] as NodeId).toString()
  return new PlacementError("shop/Cart/1", "moved", "moved", { node, epoch: "e", revision: 1 })
}

function answerOf(what: string, name: string): RoutingAnswer {
  switch (what) {
    case "node":
      return { kind: "node", node: NODES[name] as NodeId }
    case "here":
      return { kind: "here" }
    case "blocked":
      return { kind: "blocked" }
    case "nobody": {
      const hosts = name as "never-seen" | "were-seen" | "not-awaited"
      return { kind: "refused", error: new UnknownActorTypeError("Cart", "no node hosts it"), hosts }
    }
    case "refused":
      return { kind: "refused", error: new RangeError("the strategy threw"), hosts: "never-seen" }
    case "busy":
      return { kind: "refused", error: undefined, hosts: "never-seen" }
    default:
      throw new TypeError(`unknown event ${what}`)
  }
}
