import { inspect } from "node:util"
import {
  type ActorRef,
  type ActorSystemSettings,
  AssociationConnected,
  AssociationFailed,
  AssociationLost,
  AssociationQuarantined,
  Behaviors,
  ConnectionRefused,
  DeadLetter,
  type LogFields,
  type Logger,
  MemberLeft,
  MemberRemoved,
  MemberUp,
} from "../../../src/index.js"
import type { Ports } from "../../../src/ports/ports.js"
import { nodePorts } from "../../../src/runtime/node-ports.js"
import { ActorSystem } from "../../../src/system/actor-system.js"
import type { Authority } from "./raw-peer.js"
import { notice, recorded } from "./until.js"

export const SECRET = "a secret that no line may carry"

export type Question = { readonly text: string; readonly replyTo: ActorRef<string> }

/** A system on real sockets that records its log, events and dead letters, with an actor `echo`. */
export class WatchedNode implements Authority {
  readonly system: ActorSystem
  readonly namespace: string
  readonly secret: string | readonly [string, string] | undefined
  /** Each line with all of its fields. */
  readonly log: string[]
  readonly refused = recorded<ConnectionRefused>()
  readonly connected = recorded<AssociationConnected>()
  readonly lost = recorded<AssociationLost>()
  readonly failed = recorded<AssociationFailed>()
  readonly quarantined = recorded<AssociationQuarantined>()
  readonly deadLetters = recorded<DeadLetter>()
  readonly echo: ActorRef<Question>

  private constructor(system: ActorSystem, settings: ActorSystemSettings, log: string[]) {
    this.system = system
    this.namespace = settings.namespace
    this.secret = settings.listen?.secret
    this.log = log
    const { events } = system
    events.subscribe(ConnectionRefused, (event) => this.refused.push(event))
    events.subscribe(AssociationConnected, (event) => this.connected.push(event))
    events.subscribe(AssociationLost, (event) => this.lost.push(event))
    events.subscribe(AssociationFailed, (event) => this.failed.push(event))
    events.subscribe(AssociationQuarantined, (event) => this.quarantined.push(event))
    events.subscribe(DeadLetter, (event) => this.deadLetters.push(event))
    for (const change of [MemberUp, MemberLeft, MemberRemoved]) events.subscribe<object>(change, notice)
    this.echo = system.spawn(echo, "echo")
  }

  static async start(
    settings: Partial<ActorSystemSettings> = {},
    ports: Partial<Ports> = {},
  ): Promise<WatchedNode> {
    const log = recorded<string>()
    const all: ActorSystemSettings = {
      namespace: "besieged",
      listen: { host: "127.0.0.1", port: 0, secret: SECRET },
      ...settings,
    }
    const system = await ActorSystem.start(all, nodePorts({ logger: recording(log, {}), ...ports }))
    return new WatchedNode(system, all, log)
  }

  get authority(): string {
    return this.system.node?.address ?? ""
  }

  /** Returns the path that an actor of this node has on other nodes. */
  path(name: string): string {
    return `${this.system.address}/user/${name}`
  }

  /** Discards the recorded events, for tests that measure memory. */
  forget(): void {
    const { refused, connected, lost, failed, quarantined, deadLetters } = this
    for (const events of [refused, connected, lost, failed, quarantined, deadLetters]) events.length = 0
  }

  stop(): Promise<void> {
    return this.system.stop()
  }
}

/** Answers any message with a `replyTo`, and ignores others. */
const echo = Behaviors.receive<Question>((_context, message: Partial<Question> | undefined) => {
  const { replyTo, text } = message ?? {}
  if (typeof replyTo?.tell === "function") replyTo.tell(text ?? "")
  return Behaviors.same
})

function recording(lines: string[], known: LogFields): Logger {
  return {
    enabled: () => true,
    log: (level, message, fields) => {
      lines.push(`${level} ${message} ${inspect({ ...known, ...fields }, whole)}`)
    },
    with: (fields) => recording(lines, { ...known, ...fields }),
  }
}

const whole = {
  depth: 20,
  showHidden: true,
  maxStringLength: null,
  maxArrayLength: null,
  breakLength: Infinity,
}
