import { Actor, ActorSystem, consoleLogger, memoryStore } from "../../../src/index.js"

// Calls an actor of another node again and again, one call at a time, and prints which functions were entered
// in each of the last calls, as JSON. It runs as an instrumented module beside instrumented sources.

class Echo extends Actor {
  static readonly type = "Echo"

  echo(text: string) {
    return text
  }
}

interface Entry {
  readonly depth: number
  readonly module: string
  readonly name: string
}

const CALLS_BEFORE = 200
const CALLS_SHOWN = 31

let entries: Entry[] | undefined
Error.stackTraceLimit = 500
;(globalThis as { entered?: unknown }).entered = (module: string, name: string) => {
  entries?.push({ depth: depthOf(new Error().stack ?? ""), module, name })
}

/** How many functions of Troupe are on the stack; what is below an `await` is not. */
function depthOf(stack: string): number {
  return stack.split("\n").filter((line) => line.includes("/src/") && !line.includes("at async ")).length
}

const store = memoryStore()
const there = await started([Echo])
const here = await started([])
const echo = here.actor(Echo, "one")
for (let call = 0; call < CALLS_BEFORE; call += 1) await echo.echo("text")
const walks: Entry[][] = []
for (let call = 0; call < CALLS_SHOWN; call += 1) {
  entries = []
  await echo.echo("text")
  walks.push(entries)
  entries = undefined
}
await here.stop()
await there.stop()
process.stdout.write(JSON.stringify(walks))

function started(actors: readonly (typeof Echo)[]): Promise<ActorSystem> {
  return ActorSystem.start({
    namespace: "walk",
    actors,
    store,
    listen: { host: "127.0.0.1", port: 0 },
    // What nodes say of themselves meanwhile is no part of a call.
    gossipIntervalMs: 60_000,
    heartbeat: { intervalMs: 60_000 },
    logger: consoleLogger({ level: "error" }),
  })
}
