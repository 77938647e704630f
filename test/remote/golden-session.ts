import { DeadLetter, DeadLetters } from "../../src/actor/dead-letters.js"
import { Deadlines } from "../../src/actor/deadlines.js"
import { Dispatcher } from "../../src/actor/dispatcher.js"
import { EventStream } from "../../src/actor/event-stream.js"
import { InternalRef, type Watcher } from "../../src/actor/internal-ref.js"
import { ReplyRef } from "../../src/actor/reply-ref.js"
import { Terminated } from "../../src/actor/signals.js"
import { ActorPath } from "../../src/address/actor-path.js"
import { Address } from "../../src/address/address.js"
import { NodeId } from "../../src/address/node-id.js"
import type { CallError, Delivery } from "../../src/errors/call-errors.js"
import { FrameConnection } from "../../src/remote/frame-connection.js"
import type { InboundTerms } from "../../src/remote/inbound-budget.js"
import { MessageCodec } from "../../src/remote/message-codec.js"
import { ReadingTurn } from "../../src/remote/reading-turn.js"
import { RemoteRef } from "../../src/remote/remote-ref.js"
import type { RemoteReply } from "../../src/remote/remote-reply.js"
import { Session, type SessionOwner } from "../../src/remote/session.js"
import { binaryCodec } from "../../src/serialization/binary-codec.js"
import { InputBytes } from "../../src/serialization/input-bytes.js"
import { TypeRegistry, type WireType } from "../../src/serialization/type-registry.js"
import { FakeConnection, frameDependencies, type TestDependencies } from "./golden-connection.js"

/** A session whose actors, owner and network are test doubles. */
export interface TestSession {
  readonly session: Session
  readonly connection: FakeConnection
  readonly tools: TestDependencies
  readonly owner: RecordingOwner
  /** The actors of this node, by path. */
  readonly actors: Map<string, FakeActor>
  readonly deadlines: Deadlines
  readonly deadLetters: readonly DeadLetter[]
  /** Encodes a value; a reply ref is an empty string. */
  encoded(value: unknown): Buffer
  decoded(payload: Buffer): unknown
}

export const HERE = "troupe.tcp://orders@a.test:2551"
export const THERE = "troupe.tcp://orders@b.test:2552"

export interface SessionOptions {
  readonly ourMaxBytes?: number
  readonly theirMaxBytes?: number
  readonly types?: readonly WireType[]
  readonly inbound?: InboundTerms
}

export function startSession(options: SessionOptions = {}): TestSession {
  const { ourMaxBytes = 100_000, theirMaxBytes = 100_000, types = [] } = options
  const tools = frameDependencies()
  const { clock, scheduler, logger } = tools
  const events = new EventStream(scheduler, logger)
  const deadLetters: DeadLetter[] = []
  events.subscribe(DeadLetter, (letter) => deadLetters.push(letter))
  const actors = new Map<string, FakeActor>()
  const deadlines = new Deadlines(clock)
  const actorAt = (path: ActorPath) => {
    const known = actors.get(path.toString())
    if (known !== undefined) return known
    const made = new FakeActor(path)
    actors.set(path.toString(), made)
    return made
  }
  const codec = new MessageCodec({
    codec: binaryCodec(),
    clock,
    types: new TypeRegistry(types),
    maxMessageBytes: ourMaxBytes,
    deadLetters: new DeadLetters(events, logger, clock),
    deadlines,
    logger,
    inbound: {
      terms: options.inbound ?? { messages: 1_000, bytes: 1_000_000 },
      turn: new ReadingTurn(scheduler, clock),
      dispatcher: new Dispatcher(scheduler, clock),
    },
    resolve: actorAt,
    target: actorAt,
    questionPath: (_peer, correlation) => ActorPath.parse(`${THERE}/user/question-${correlation}`),
    ownQuestionPath: (_peer, correlation) => ActorPath.parse(`${HERE}/user/question-${correlation}`),
  })
  const connection = new FakeConnection()
  const owner = new RecordingOwner()
  const frames = new FrameConnection(connection, tools, {
    receive: (kind, input) => session.receive(kind, input),
    drained: () => {},
    closed: (because, detail) => {
      owner.closed.push(detail === "" ? because : `${because}: ${detail}`)
      session.ended(because)
    },
  })
  const node = NodeId.of("b.test", 2552, "00000000000000b1")
  const address = Address.of({ scheme: "troupe.tcp", system: "orders", host: "b.test", port: 2552 })
  if (!(address instanceof Address)) throw address
  const peer = { node, address, maxMessageBytes: theirMaxBytes, answerKey: new Uint8Array(32) }
  const session = new Session(peer, frames, codec, owner)
  frames.start()
  frames.established()
  return {
    session,
    connection,
    tools,
    owner,
    actors,
    deadlines,
    deadLetters,
    encoded: (value) => codec.encoded(value, undefined),
    decoded: (payload) => codec.decode(new InputBytes(payload, 0, payload.length), undefined),
  }
}

export function remoteRef(name: string): RemoteRef<never> {
  return new RemoteRef(ActorPath.parse(`${THERE}/user/${name}`), () => {
    throw new Error("a session does not dial")
  })
}

class RecordingOwner implements SessionOwner {
  queues = false
  readonly queued: Buffer[] = []
  readonly told: string[] = []
  readonly causes: unknown[] = []
  readonly closed: string[] = []

  hasToQueue(): boolean {
    return this.queues
  }

  queueAnswer(_session: Session, _reply: RemoteReply, payload: Buffer): undefined {
    this.queued.push(payload)
  }

  watching(_session: Session, number: number, uid: number): void {
    this.told.push(`watching ${number}, uid ${uid}`)
  }

  terminated(number: number, cause: unknown): void {
    this.told.push(`terminated ${number}`)
    this.causes.push(cause)
  }

  membership(_session: Session, payload: Buffer): void {
    this.told.push(`membership ${payload.toString("hex")}`)
  }
}

/** An actor that records its messages, questions and watchers. */
export class FakeActor extends InternalRef<unknown> {
  readonly path: ActorPath
  readonly capacity = 1
  readonly messages: unknown[] = []
  readonly questions: { readonly reply: ReplyRef; readonly message: unknown }[] = []
  readonly watchers = new Set<Watcher>()
  refusal: CallError | undefined

  constructor(path: ActorPath) {
    super()
    this.path = path
  }

  tell(message: unknown): void {
    this.messages.push(message)
  }

  accept(message: unknown): undefined {
    this.messages.push(message)
  }

  request(reply: ReplyRef, message: unknown): CallError | undefined {
    this.questions.push({ reply, message })
    return this.refusal
  }

  withdraw(): Delivery {
    return "unknown"
  }

  addWatcher(watcher: Watcher): void {
    this.watchers.add(watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.watchers.delete(watcher)
  }

  stop(cause?: unknown): void {
    for (const watcher of [...this.watchers]) watcher.terminated(new Terminated(this, cause))
    this.watchers.clear()
  }
}

/** A question of this node, which records its outcomes. */
export class FakeQuestion extends ReplyRef {
  readonly path: ActorPath
  readonly timeoutMs = 1_000
  readonly outcomes: unknown[] = []

  constructor(correlation: number) {
    super()
    this.correlation = correlation
    this.path = ActorPath.parse(`${HERE}/user/asker-${correlation}`)
  }

  tell(answer: unknown): void {
    this.outcomes.push(answer)
  }

  accept(answer: unknown): undefined {
    this.outcomes.push(answer)
  }

  request(): undefined {}

  withdraw(): Delivery {
    return "unknown"
  }

  targetStopped(): void {}

  fail(error: Error): void {
    this.outcomes.push(error)
  }

  expire(): void {}
  abandon(): void {}
}
