import type { Node } from "oxc-parser"
import { namesBoundBy } from "./bindings.js"
import type { Finding } from "./check.js"
import { isOnlyAName, isOnlyTypes } from "./positions.js"
import { type Place, type Source, walk } from "./source.js"

const timer = "Use a timer of the Clock port."
const time = "Read the time from the Clock port, or take it as an argument."
const turn = "Schedule the task with the Scheduler port."
const chance = "Use the Random port."
const output = "Use the Logger port."
const wire = "Use the Network port."
const world = "Use a port, and implement it in runtime, stores or cli."
const code = "Write the code directly; code is not loaded or compiled at run time."

/** Names that may not be used as values, and the alternatives. */
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
    console: output,
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

/** Names of which only some uses are allowed. Every other use, such as an alias, is refused. */
const halfForbidden = new Map<string, { allows(place: Place): boolean; advice: string }>([
  [
    "Math",
    {
      allows: (place) => memberOf(place, (name) => name !== "random"),
      advice: `${chance} Math may only be followed by a dot and a name.`,
    },
  ],
  [
    "Date",
    {
      allows: (place) =>
        memberOf(place, (name) => name === "UTC" || name === "parse" || name === "prototype") ||
        isConstructedFromValue(place) ||
        isInstanceofRight(place),
      advice: `${time} Date may only be used with a value, with instanceof, and for UTC and parse.`,
    },
  ],
  [
    "AbortSignal",
    {
      allows: (place) => memberOf(place, (name) => name !== "timeout") || isInstanceofRight(place),
      advice: `${timer} AbortSignal may only be followed by a dot and a name, or follow instanceof.`,
    },
  ],
])

/** Finds uses of globals with outside effects, which bypass the ports. */
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
  yield { at, rule: "shadow", advice: `Rename the local ${name}: it would hide uses of the global.` }
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

/** Whether the place is `new Date(x)`. Without an argument, or with a possibly empty spread, it reads the clock. */
function isConstructedFromValue({ parent, key }: Place): boolean {
  if (parent.type !== "NewExpression" || key !== "callee") return false
  const first = parent.arguments[0]
  return first !== undefined && first.type !== "SpreadElement"
}

function isInstanceofRight({ parent, key }: Place): boolean {
  return parent.type === "BinaryExpression" && parent.operator === "instanceof" && key === "right"
}
