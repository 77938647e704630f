import type { Node } from "oxc-parser"
import { namesBoundBy } from "./bindings.js"
import type { Finding } from "./check.js"
import { isOnlyAName, isOnlyTypes } from "./positions.js"
import { type Place, type Source, walk } from "./source.js"

const timer = "Ask the Clock port for a timer."
const time = "Read the time from the Clock port, or take it as an argument."
const turn = "Hand the task to the Scheduler port."
const chance = "Draw from the Random port."
const speech = "Say it through the Logger port."
const wire = "Go through the Network port."
const world = "Reach the world through a port, and implement that in runtime, stores or cli."
const code = "Write the code out; nothing here is loaded or compiled at run time."

/** Names that may not be used as a value, and what to do instead. */
const forbidden = new Map(
  Object.entries({
    setTimeout: timer,
    setInterval: timer,
    clearTimeout: timer,
    clearInterval: timer,
    setImmediate: turn,
    clearImmediate: turn,
    queueMicrotask: turn,
    performance: time,
    Temporal: time,
    crypto: chance,
    console: speech,
    fetch: wire,
    WebSocket: wire,
    EventSource: wire,
    MessageChannel: world,
    BroadcastChannel: world,
    Worker: world,
    SharedArrayBuffer: world,
    Atomics: world,
    WebAssembly: world,
    process: world,
    globalThis: world,
    global: world,
    navigator: world,
    localStorage: world,
    require: code,
    eval: code,
    Function: code,
  }),
)

/** Names with a harmless and a harmful side. The harmless uses are listed; any other, an alias say, is refused. */
const halfForbidden = new Map<string, { allows(place: Place): boolean; advice: string }>([
  [
    "Math",
    {
      allows: (place) => memberOf(place, (name) => name !== "random"),
      advice: `${chance} Math itself may only stand before a dot and a name.`,
    },
  ],
  [
    "Date",
    {
      allows: (place) =>
        memberOf(place, (name) => name === "UTC" || name === "parse" || name === "prototype") ||
        isConstructedFromValue(place) ||
        isInstanceofRight(place),
      advice: `${time} Date may only be constructed from a value, tested by instanceof, or asked for UTC and parse.`,
    },
  ],
  [
    "AbortSignal",
    {
      allows: (place) => memberOf(place, (name) => name !== "timeout") || isInstanceofRight(place),
      advice: `${timer} AbortSignal itself may only stand before a dot and a name, or after instanceof.`,
    },
  ],
])

/** Uses of the outside world that go around the ports. */
export function* ambientUses(source: Source): Generator<Finding> {
  const bound = new Set<Node>()
  for (const [node, place] of walk(source.program, isOnlyTypes)) {
    for (const name of namesBoundBy(node)) bound.add(name)
    if (node.type !== "Identifier" || place === undefined || isOnlyAName(place)) continue
    if (bound.has(node)) yield* shadowed(node.start, node.name)
    else yield* used(node.start, node.name, place)
  }
}

function* used(at: number, name: string, place: Place): Generator<Finding> {
  const half = halfForbidden.get(name)
  const advice = half === undefined || half.allows(place) ? forbidden.get(name) : half.advice
  if (advice !== undefined) yield { at, rule: "ambient", advice }
}

function* shadowed(at: number, name: string): Generator<Finding> {
  if (!forbidden.has(name) && !halfForbidden.has(name)) return
  yield { at, rule: "shadow", advice: `Rename it: a local called ${name} would hide a use of the global.` }
}

function memberOf({ parent, key }: Place, allows: (name: string) => boolean): boolean {
  return (
    parent.type === "MemberExpression" &&
    key === "object" &&
    !parent.computed &&
    parent.property.type === "Identifier" &&
    allows(parent.property.name)
  )
}

/** `new Date(x)`. With no argument, or with a spread that may be empty, it reads the clock. */
function isConstructedFromValue({ parent, key }: Place): boolean {
  if (parent.type !== "NewExpression" || key !== "callee") return false
  const first = parent.arguments[0]
  return first !== undefined && first.type !== "SpreadElement"
}

function isInstanceofRight({ parent, key }: Place): boolean {
  return parent.type === "BinaryExpression" && parent.operator === "instanceof" && key === "right"
}
