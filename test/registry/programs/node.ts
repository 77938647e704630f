/** A node of a cluster over a SQLite file. Does what its test tells it, and reports what happens to it. */
import { existsSync } from "node:fs"
import { ActorId } from "../../../src/address/actor-id.js"
import {
  type ActorRef,
  AssociationConnected,
  Behaviors,
  MemberRemoved,
  NodeFenced,
  NodeRejoined,
  TroupeError,
} from "../../../src/index.js"
import type { StoreProvider } from "../../../src/ports/store.js"
import type { DurableState } from "../../../src/registry/durable-state.js"
import type { Denial } from "../../../src/registry/registration.js"
import type { Registry } from "../../../src/registry/registry.js"
import type { Tenure } from "../../../src/registry/tenure.js"
import { nodePorts } from "../../../src/runtime/node-ports.js"
import { sqliteStore } from "../../../src/stores/sqlite/index.js"
import { ActorSystem } from "../../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../../src/system/settings.js"
import { CountingActor } from "./counting-actor.js"
import { StatesOf } from "./states.js"

const { file, lease } = JSON.parse(process.argv[2] as string) as NodeOptions
const states = new StatesOf(sqliteStore({ file }))
const system = await ActorSystem.start(
  {
    namespace: "test",
    listen: { host: "127.0.0.1", port: 0 },
    reconnect: { fromMs: 5, toMs: 50 },
    store: states.provider as StoreProvider,
    ...(lease === undefined ? {} : { lease }),
  },
  nodePorts(),
)
const registry = ActorSystem.registryOf(system) as Registry
const held = new Map<string, { readonly tenure: Tenure; readonly state: DurableState }>()
const counting: CountingActor[] = []

const echo = Behaviors.receive<Question>((_context, { text, replyTo }) => {
  replyTo.tell(text)
  return Behaviors.same
})
const echoPath = system.spawn(echo, "echo").path.toString()

const commands = {
  identify: () => ({ node: `${registry.node}`, echoPath }),
  view: () => registry.view.members.map(({ node, status }) => `${node} ${status}`),
  claim,
  /** As soon as this node has heard that the other is gone. */
  claimAfter: (node: string, key: string) =>
    new Promise<Claimed>((resolve) => {
      const removed = system.events.subscribe(MemberRemoved, (event) => {
        if (`${event.node}` !== node) return
        removed.cancel()
        resolve(claim(key))
      })
    }),
  load: (key: string) => holding(key).state.load(),
  save: (key: string, value: unknown) => outcomeOf(holding(key).state.save(value)),
  stored: (key: string) => states.stored(idOf(key)),
  holds: (key: string) => registry.tenure(idOf(key)) !== undefined,
  /**
   * A turn that is one long computation: nothing else is served until the file is there. What it may still do then is
   * reported, and that before anything else has had its say.
   */
  compute: async (key: string, until: string) => {
    const { tenure, state } = holding(key)
    const mayBegin = tenure.mayBegin()
    setImmediate(() => {
      while (!existsSync(until));
      const mayReply = tenure.mayAct()
      const saved = outcomeOf(state.save("too late"))
      const mayBeginNext = tenure.mayBegin()
      void saved.then((save) => report({ kind: "turn-ended", mayReply, mayBeginNext, save }))
    })
    return { mayBegin }
  },
  ask: (path: string, text: string) =>
    system.ask<Question, string>(system.resolve(path), (replyTo) => ({ text, replyTo })),
  count: (key: string) => {
    counting.push(CountingActor.start(idOf(key), registry, (tenure) => states.of(tenure)))
  },
  counted: () => counting.map((actor) => actor.progress),
  stopCounting: () => Promise.all(counting.map((actor) => actor.stop())),
  stop: async () => {
    await system.stop()
    // When the answer has left.
    setImmediate(() => process.disconnect())
  },
}

system.events.subscribe(NodeFenced, ({ node, because }) =>
  report({ kind: "fenced", node: `${node}`, because }),
)
system.events.subscribe(NodeRejoined, ({ node }) => report({ kind: "rejoined", node: `${node}` }))
system.events.subscribe(AssociationConnected, ({ node }) => report({ kind: "connected", node: `${node}` }))

process.on("message", async ({ id, name, args }: Call) => {
  const command = commands[name] as (...given: unknown[]) => unknown
  try {
    report({ kind: "answer", id, value: await command(...args) })
  } catch (error) {
    report({ kind: "failed", id, problem: `${(error as Error).stack}` })
  }
})
report({ kind: "ready" })

async function claim(key: string): Promise<Claimed> {
  const registration = await registry.register(idOf(key))
  if (registration.kind === "acquire-denied") return { kind: registration.because.kind }
  const { tenure } = registration
  held.set(key, { tenure, state: states.of(tenure) })
  return { kind: "acquired", generation: tenure.generation }
}

function holding(key: string) {
  const found = held.get(key)
  if (found === undefined) throw new Error(`${key} was never claimed here`)
  return found
}

function idOf(key: string): ActorId {
  return ActorId.of("test", "Account", key)
}

/** `saved`, or the code of the error. */
function outcomeOf(saved: Promise<void>): Promise<string> {
  return saved.then(
    () => "saved",
    (error) => (error instanceof TroupeError ? error.code : `${error}`),
  )
}

function report(what: NodeReport): void {
  process.send?.(what)
}

interface Question {
  readonly text: string
  readonly replyTo: ActorRef<string>
}

export interface NodeOptions {
  readonly file: string
  readonly lease?: ActorSystemSettings["lease"]
}

export type NodeCommands = typeof commands

export interface Call {
  readonly id: number
  readonly name: keyof NodeCommands
  readonly args: readonly unknown[]
}

export interface Claimed {
  readonly kind: "acquired" | Denial["kind"]
  readonly generation?: number
}

export type NodeReport =
  | { readonly kind: "ready" }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly problem: string }
  | NodeEvent

export type NodeEvent =
  | { readonly kind: "fenced"; readonly node: string; readonly because: string }
  | { readonly kind: "rejoined"; readonly node: string }
  | { readonly kind: "connected"; readonly node: string }
  | {
      readonly kind: "turn-ended"
      readonly mayReply: boolean
      readonly mayBeginNext: boolean
      readonly save: string
    }
