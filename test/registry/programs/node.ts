/** A node of a cluster over a SQLite file. Does what its test tells it, and reports what happens to it. */
import { existsSync } from "node:fs"
import { ActorId } from "../../../src/address/actor-id.js"
import {
  type ActorRef,
  AssociationConnected,
  Behaviors,
  consoleLogger,
  type Logger,
  MemberLeft,
  MemberRemoved,
  MemberUp,
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
import { nodeThreads } from "../../../src/runtime/node-threads.js"
import { sqliteStore } from "../../../src/stores/sqlite/index.js"
import { ActorSystem } from "../../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../../src/system/settings.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"
import { CountingActor } from "./counting-actor.js"
import { StatesOf } from "./states.js"

const parent = new ParentProcess<NodeOptions, NodeEvent>()
const { file, lease, silenceMs } = parent.options
const states = new StatesOf(sqliteStore({ file }))
const system = await ActorSystem.start(
  {
    namespace: "test",
    listen: { host: "127.0.0.1", port: 0 },
    reconnect: { fromMs: 5, toMs: 50 },
    store: states.provider as StoreProvider,
    ...(lease === undefined ? {} : { lease }),
  },
  nodePorts({
    logger: reporting(consoleLogger()),
    ...(silenceMs === undefined ? {} : { threads: { ...nodeThreads, silenceMs } }),
  }),
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
  /** Resolves once this node's view is of these nodes, all up. */
  sees: (nodes: readonly string[]) => {
    const wanted = nodes
      .map((node) => `${node} up`)
      .sort()
      .join()
    const isSeen = () =>
      registry.view.members
        .map(({ node, status }) => `${node} ${status}`)
        .sort()
        .join() === wanted
    return new Promise<void>((resolve) => {
      const look = () => {
        if (!isSeen()) return
        for (const change of changes) change.cancel()
        resolve()
      }
      const changes = [MemberUp, MemberLeft, MemberRemoved, NodeRejoined].map((change) =>
        system.events.subscribe<object>(change, look),
      )
      look()
    })
  },
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
      void saved.then((save) => parent.report({ kind: "turn-ended", mayReply, mayBeginNext, save }))
    })
    return { mayBegin }
  },
  /** A turn that computes for so long; what it may do then is reported as by `compute`. */
  computeFor: async (key: string, ms: number) => {
    const { tenure, state } = holding(key)
    setImmediate(() => {
      const until = performance.now() + ms
      while (performance.now() < until);
      const mayReply = tenure.mayAct()
      const mayBeginNext = tenure.mayBegin()
      const saved = outcomeOf(state.save("after a long computation"))
      void saved.then((save) => parent.report({ kind: "turn-ended", mayReply, mayBeginNext, save }))
    })
  },
  ask: (path: string, text: string) =>
    system.ask<Question, string>(system.resolve(path), (replyTo) => ({ text, replyTo })),
  count: (key: string) => {
    counting.push(CountingActor.start(idOf(key), registry, (tenure) => states.of(tenure)))
  },
  counted: () => counting.map((actor) => actor.progress),
  /** Resolves once each actor has saved more than this number, by its key. */
  savesMoreThan: (numbers: Readonly<Record<string, number>>) =>
    Promise.all(counting.map((actor) => actor.savesMoreThan(numbers[actor.progress.key] ?? 0))).then(
      () => {},
    ),
  stopCounting: () => Promise.all(counting.map((actor) => actor.stop())),
  stop: () => system.stop(),
}

system.events.subscribe(NodeFenced, ({ node, because }) =>
  parent.report({ kind: "fenced", node: `${node}`, because }),
)
system.events.subscribe(NodeRejoined, ({ node }) => parent.report({ kind: "rejoined", node: `${node}` }))
system.events.subscribe(AssociationConnected, ({ node }) =>
  parent.report({ kind: "connected", node: `${node}` }),
)
parent.serve(commands)

function reporting(logger: Logger): Logger {
  return {
    enabled: (level) => logger.enabled(level),
    log: (level, message, fields) => {
      logger.log(level, message, fields)
      parent.report({ kind: "logged", message })
    },
    with: (fields) => reporting(logger.with(fields)),
  }
}

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

interface Question {
  readonly text: string
  readonly replyTo: ActorRef<string>
}

export interface NodeOptions {
  readonly file: string
  readonly lease?: ActorSystemSettings["lease"]
  /** How long the renewal thread renews for an event loop that is silent. */
  readonly silenceMs?: number
}

export type NodeCommands = typeof commands

export interface Claimed {
  readonly kind: "acquired" | Denial["kind"]
  readonly generation?: number
}

export type NodeEvent =
  | { readonly kind: "logged"; readonly message: string }
  | { readonly kind: "fenced"; readonly node: string; readonly because: string }
  | { readonly kind: "rejoined"; readonly node: string }
  | { readonly kind: "connected"; readonly node: string }
  | {
      readonly kind: "turn-ended"
      readonly mayReply: boolean
      readonly mayBeginNext: boolean
      readonly save: string
    }
