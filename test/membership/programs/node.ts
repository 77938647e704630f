/** A node of a cluster, by seeds or with a store, through the public API. Reports its events, its views and its log. */
import {
  Actor,
  type ActorRef,
  ActorSystem,
  type ActorSystemSettings,
  Behaviors,
  consoleLogger,
  jsonCodec,
  LeaderChanged,
  type Logger,
  MemberDowned,
  MemberExiting,
  MemberJoining,
  MemberLeaving,
  MemberLeft,
  MemberRemoved,
  MemberUp,
  NodeFenced,
  NodeId,
  NodeRejoined,
  ReachableMember,
  UnreachableMember,
} from "../../../src/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"
import { type StoreOptions, storeOf } from "../../../tools/store-options.js"

export interface NodeOptions {
  /** The port of the relay before this node. */
  readonly advertised: number
  readonly seeds?: readonly string[]
  readonly store?: StoreOptions
  readonly secret?: string
  readonly codec?: "json"
  readonly joinMs?: number
  readonly timing: Pick<ActorSystemSettings, "gossipIntervalMs" | "heartbeat" | "splitBrain" | "lease">
}

export type NodeEvent =
  | {
      readonly kind: "member"
      /** The name of the class of the event. */
      readonly event: string
      readonly node: string | undefined
      readonly at: number
    }
  | { readonly kind: "viewed"; readonly view: View }
  | { readonly kind: "fenced"; readonly node: string; readonly because: string }
  | { readonly kind: "rejoined"; readonly node: string }
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "logged"; readonly level: string; readonly message: string; readonly fields: string }

export interface View {
  readonly self: string
  /** Each as `node status`, sorted. */
  readonly members: readonly string[]
  readonly ages: readonly number[]
  readonly unreachable: readonly string[]
  readonly leader: string | undefined
}

class Tally extends Actor<number> {
  static readonly type = "Tally"

  protected override initialState() {
    return 0
  }

  async add(): Promise<number> {
    this.state += 1
    await this.save()
    return this.state
  }
}

interface Question {
  readonly text: string
  readonly replyTo: ActorRef<string>
}

const parent = new ParentProcess<NodeOptions, NodeEvent>()
const { advertised, seeds, store, secret, codec, joinMs, timing } = parent.options
const system = await ActorSystem.start({
  namespace: "test",
  listen: { host: "127.0.0.1", port: 0, ...(secret === undefined ? {} : { secret }) },
  advertise: { port: advertised },
  reconnect: { fromMs: 20, toMs: 200 },
  keepAlive: { intervalMs: 500, timeoutMs: 2_000 },
  ...(seeds === undefined ? {} : { seeds }),
  ...(store === undefined ? {} : { store: storeOf(store), actors: [Tally] }),
  ...(codec === undefined ? {} : { codec: jsonCodec() }),
  ...(joinMs === undefined ? {} : { joinMs }),
  ...timing,
  logger: reporting(consoleLogger(), {}),
})

const echo = Behaviors.receive<Question>((_context, { text, replyTo }) => {
  replyTo.tell(`${text} from ${system.node}`)
  return Behaviors.same
})
system.spawn(echo, "echo")

for (const change of [
  MemberJoining,
  MemberUp,
  MemberLeaving,
  MemberExiting,
  MemberDowned,
  MemberLeft,
  MemberRemoved,
  UnreachableMember,
  ReachableMember,
]) {
  system.events.subscribe<{ readonly node: NodeId; readonly at: number }>(change, ({ node, at }) =>
    told(change.name, node, at),
  )
}
system.events.subscribe(LeaderChanged, ({ leader, at }) => told("LeaderChanged", leader, at))
system.events.subscribe(NodeFenced, ({ node, because }) =>
  parent.report({ kind: "fenced", node: `${node}`, because }),
)
system.events.subscribe(NodeRejoined, ({ node }) => {
  parent.report({ kind: "rejoined", node: `${node}` })
  viewed()
})

function told(event: string, node: NodeId | undefined, at: number): void {
  parent.report({ kind: "member", event, node: node?.toString(), at })
  viewed()
}

function viewed(): void {
  const { members, unreachable, leader } = system.cluster
  parent.report({
    kind: "viewed",
    view: {
      self: `${system.node}`,
      members: members.map(({ node, status }) => `${node} ${status}`).sort(),
      ages: members.map(({ age }) => age),
      unreachable: [...unreachable.keys()].sort(),
      leader: leader?.toString(),
    },
  })
}

const commands = {
  health: () => system.health(),
  figures: (node: string) => system.figures(NodeId.parse(node)),
  /** Asks the behavior at another node. */
  ask: (address: string, text: string) =>
    system.ask<Question, string>(system.resolve(`troupe://test@${address}/user/echo`), (replyTo) => ({
      text,
      replyTo,
    })),
  /** Calls a virtual actor, wherever it is. */
  add: (key: string) => system.actor(Tally, key).add(),
  stop: () => system.stop(),
}

export type NodeCommands = typeof commands

viewed()
parent.serve(commands)

function reporting(logger: Logger, known: object): Logger {
  return {
    enabled: (level) => logger.enabled(level),
    log: (level, message, fields) => {
      logger.log(level, message, fields)
      parent.report({ kind: "logged", level, message, fields: shown({ ...known, ...fields }) })
      // Before it joins: the others answer to the relay.
      const listening = /:(\d+)$/.exec(`${fields?.["at"]}`)
      if (listening !== null) parent.report({ kind: "listening", port: Number(listening[1]) })
    },
    with: (fields) => reporting(logger.with(fields), { ...known, ...fields }),
  }
}

function shown(fields: object): string {
  return JSON.stringify(fields, (_key, value) => (value instanceof Error ? `${value}` : value))
}
