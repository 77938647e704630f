/** A node of a cluster by seeds that hosts entities, through the public API. Reports its shards and its members. */
import {
  type ActorRef,
  ActorSystem,
  type ActorSystemSettings,
  Behaviors,
  consoleLogger,
  type Logger,
  MemberLeft,
  MemberRemoved,
  MemberUp,
  ShardStarted,
  ShardStopped,
} from "../../../src/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"

export interface EntitiesNodeOptions {
  /** The port of the relay before this node. */
  readonly advertised: number
  readonly seeds: readonly string[]
  readonly timing: Pick<ActorSystemSettings, "gossipIntervalMs" | "heartbeat" | "splitBrain">
}

export type EntitiesNodeEvent =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "hosts"; readonly shards: readonly number[] }
  | { readonly kind: "members"; readonly count: number }

interface Question {
  readonly replyTo: ActorRef<Answer>
}

export interface Answer {
  readonly entity: string
  readonly pid: number
  /** How many questions this incarnation has got. */
  readonly count: number
}

const parent = new ParentProcess<EntitiesNodeOptions, EntitiesNodeEvent>()
const { advertised, seeds, timing } = parent.options
const system = await ActorSystem.start({
  namespace: "test",
  listen: { host: "127.0.0.1", port: 0 },
  advertise: { port: advertised },
  reconnect: { fromMs: 20, toMs: 200 },
  seeds,
  shards: { Question: 12 },
  logger: reporting(consoleLogger()),
  ...timing,
})
const region = system.sharding.init<Question>({
  typeKey: "Question",
  entity: ({ entityId }) => {
    let count = 0
    return Behaviors.receive((_context, { replyTo }) => {
      count += 1
      replyTo.tell({ entity: entityId, pid: process.pid, count })
      return Behaviors.same
    })
  },
})

const hosts = () => parent.report({ kind: "hosts", shards: region.hosted })
system.events.subscribe(ShardStarted, hosts)
system.events.subscribe(ShardStopped, hosts)
const members = () => parent.report({ kind: "members", count: system.cluster.members.length })
for (const change of [MemberUp, MemberLeft, MemberRemoved]) system.events.subscribe(change, members)
members()

const commands = {
  ask: (entityId: string) =>
    system.ask<Question, Answer>(region.entityRef(entityId), (replyTo) => ({ replyTo }), {
      timeoutMs: 20_000,
    }),
  stop: () => system.stop(),
}

export type EntitiesNodeCommands = typeof commands

parent.serve(commands)

function reporting(logger: Logger): Logger {
  return {
    enabled: (level) => logger.enabled(level),
    log: (level, message, fields) => {
      logger.log(level, message, fields)
      // Before it joins: the others answer to the relay.
      const listening = /:(\d+)$/.exec(`${fields?.["at"]}`)
      if (listening !== null) parent.report({ kind: "listening", port: Number(listening[1]) })
    },
    with: (fields) => reporting(logger.with(fields)),
  }
}
