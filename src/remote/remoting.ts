import type { DeadLetters } from "../actor/dead-letters.js"
import type { Deadlines } from "../actor/deadlines.js"
import type { Dispatcher } from "../actor/dispatcher.js"
import type { EventStream } from "../actor/event-stream.js"
import type { InternalRef } from "../actor/internal-ref.js"
import { LimitedLogger } from "../actor/limited-logger.js"
import type { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import type { NodeId } from "../address/node-id.js"
import { PathResolutionError } from "../address/path-resolution-error.js"
import type { CodecFactory, TypeNames } from "../ports/codec.js"
import type { Logger } from "../ports/logger.js"
import type { Listener, TlsOptions } from "../ports/network.js"
import type { Ports } from "../ports/ports.js"
import { Arrivals } from "./arrivals.js"
import { Association } from "./association.js"
import type { AssociationState, AssociationTerms } from "./association-protocol.js"
import type { DeferredCount } from "./deferred-queue.js"
import { Dialler } from "./dialler.js"
import type { FrameTools } from "./frame-connection.js"
import { BATCH_ALLOWANCE_BYTES, MAX_NAME_BYTES } from "./frames.js"
import type { InboundTerms } from "./inbound-budget.js"
import { MessageCodec } from "./message-codec.js"
import { PeerConnections } from "./peer-connections.js"
import { answerUid, correlationOf, questionPath } from "./question-path.js"
import { ReadingTurn } from "./reading-turn.js"
import { RemoteNode, type RemoteNodeTools } from "./remote-node.js"
import { RemoteRef } from "./remote-ref.js"
import type { SharedKeys } from "./shared-keys.js"

/**
 * Everything that a system has with other nodes: who is who by authority, who is coming in, and what refs to
 * elsewhere mean.
 */
export class Remoting {
  /** Takes what connects to this node. */
  readonly arrivals: Arrivals
  readonly #options: RemotingOptions
  readonly #listener: Listener
  readonly #codec: MessageCodec
  readonly #nodes = new Map<string, RemoteNode>()
  readonly #connections: PeerConnections
  /** The nodes that are or were quarantined, the longest known first. */
  readonly #quarantined = new Set<RemoteNode>()
  readonly #deferred: DeferredCount = { count: 0 }
  readonly #nodeTools: RemoteNodeTools
  #correlations = 0
  /** Says whom this node may dial; everybody where nobody knows who is in the cluster. */
  #isMember: ((authority: string) => boolean) | undefined

  constructor(options: RemotingOptions, listener: Listener) {
    this.#options = options
    this.#listener = listener
    const { clock, scheduler, digest, random, network } = options.ports
    const { logger, events, deadLetters, deadlines, maxMessageBytes, terms, tls } = options
    const isTls = tls !== undefined
    // What others can cause is logged with a limit.
    const limited = new LimitedLogger(logger, clock)
    this.#codec = new MessageCodec({
      codec: options.codec,
      types: options.types,
      clock,
      maxMessageBytes,
      deadLetters,
      deadlines,
      logger: limited,
      inbound: {
        terms: options.inbound,
        turn: new ReadingTurn(scheduler, clock),
        dispatcher: options.dispatcher,
      },
      resolve: (path) => this.resolve(path),
      target: (path) => options.local(path),
      questionPath: (peer, correlation) =>
        questionPath(digest, peer, { asker: peer.node, address: peer.address, correlation }),
      ownQuestionPath: (peer, correlation) =>
        questionPath(digest, peer, { asker: this.self, address: options.address, correlation }),
    })
    const frameTools: FrameTools = {
      clock,
      scheduler,
      digest,
      logger: limited,
      keepAlive: options.keepAlive,
      handshakeMs: HANDSHAKE_MS,
      maxBodyBytes: maxMessageBytes + BATCH_ALLOWANCE_BYTES,
      backlogBytes: terms.bytes,
    }
    const { self, address, namespace, store, keys } = options
    this.#connections = new PeerConnections({
      self,
      address,
      namespace,
      store,
      keys,
      tls,
      maxMessageBytes,
      nodes: this.#nodes,
      codec: this.#codec,
      frameTools,
      digest,
      random,
    })
    this.arrivals = new Arrivals({ clock, logger, events, isTls, nodeOf: this.#nodeOf }, this.#connections)
    const dialler = new Dialler(
      { network, tls, timeoutMs: options.connectTimeoutMs, logger },
      this.#connections,
    )
    this.#nodeTools = {
      clock,
      logger,
      limited,
      mayDial: (authority) => this.#isMember?.(authority) !== false,
      events,
      codec: this.#codec,
      deferredCapacity: terms.perAuthority,
      outboundBytes: terms.bytes,
      isTls,
      nextCorrelation: () => {
        this.#correlations += 1
        return this.#correlations
      },
      dial: (node) => dialler.dial(node),
      forget: (node) => {
        this.#quarantined.delete(node)
        if (this.#nodes.get(node.authority) === node) this.#nodes.delete(node.authority)
      },
      quarantined: (node) => this.#remember(node),
    }
  }

  /** This life of this node. */
  get self(): NodeId {
    return this.#connections.self
  }

  /**
   * Goes on as the next incarnation of this node, for one that may not act as the last one any more. What was
   * said as the last one ends: connections, handshakes, the questions that were sent, and what others watch
   * here. What was not sent is kept, actors do not notice, and what they watch elsewhere is watched on.
   * Correlations are counted on: an answer to a question of the last life finds none of this one, whichever
   * way it comes.
   */
  reincarnate(self: NodeId): void {
    const before = this.self
    if (self.address !== before.address || self.equals(before))
      throw new TypeError(`${self} is no other incarnation of ${before}`)
    this.#options.logger.log("info", "this node goes on as a new incarnation", {
      before: before.toString(),
      now: self.toString(),
    })
    this.#connections.self = self
    this.arrivals.closeUnproven("reincarnated")
    for (const node of [...this.#nodes.values()]) node.reincarnated()
  }

  /** The ref for any path: of this node, or of another. */
  resolve(path: ActorPath): InternalRef<never> {
    const { authority, port } = path.address
    if (authority === undefined || path.address.key === this.#options.address.key)
      return this.#options.local(path)
    if (port === undefined) {
      throw new PathResolutionError(
        "Unresolved",
        path.toString(),
        "it says no port, so its node cannot be reached",
      )
    }
    if (path.toString().length > MAX_NAME_BYTES) {
      throw new PathResolutionError(
        "Unresolved",
        path.toString(),
        `a path of another node has ${MAX_NAME_BYTES} characters at most`,
      )
    }
    return new RemoteRef(path, this.#nodeOf)
  }

  /**
   * The question that waits for an answer at this path, which this node gave to another. Nobody finds it by
   * guessing.
   */
  questionAt(path: ActorPath): InternalRef<never> | undefined {
    const correlation = correlationOf(path.name)
    if (correlation === undefined) return undefined
    for (const { session } of this.#nodes.values()) {
      const question = session?.question(correlation)
      if (session === undefined || question === undefined) continue
      const uid = answerUid(this.#options.ports.digest, session.peer, this.self, correlation)
      return uid === path.uid ? question : undefined
    }
    return undefined
  }

  /** Undefined where there is nothing with that authority. */
  state(authority: string): AssociationState | undefined {
    return this.#nodes.get(authority)?.state
  }

  /**
   * From now on only these are dialled: a message may hold a ref to any address, and whoever is dialled is
   * told who this node is.
   */
  dialOnly(isMember: (authority: string) => boolean): void {
    this.#isMember = isMember
  }

  /** The node at this address has shown that it is alive, to others if not to this one. */
  alive(authority: string): void {
    this.#nodes.get(authority)?.alive()
  }

  quarantine(authority: string, because: string): void {
    this.#nodeOf(authority).shutOut(because)
  }

  liftQuarantine(authority: string): void {
    this.#nodes.get(authority)?.letIn()
  }

  /** Says goodbye to all, and gives them a moment to read it. */
  async stop(): Promise<void> {
    this.#connections.isStopping = true
    await this.#listener.close()
    for (const node of [...this.#nodes.values()]) node.stop()
    this.arrivals.closeUnproven("stopping")
    await this.#connections.gone()
  }

  readonly #nodeOf = (authority: string): RemoteNode => {
    const known = this.#nodes.get(authority)
    if (known !== undefined) return known
    const { random } = this.#options.ports
    const association = new Association<never>({
      authority,
      self: () => this.self,
      terms: this.#options.terms,
      jitter: () => random.uint32() / 2 ** 32,
      all: this.#deferred,
    })
    const node = new RemoteNode(association, this.#nodeTools)
    if (this.#connections.isStopping) node.stop()
    else this.#nodes.set(authority, node)
    return node
  }

  /** Whoever knows the secret may say that it is at any address; what is remembered of such is bounded. */
  #remember(node: RemoteNode): void {
    this.#quarantined.add(node)
    if (this.#quarantined.size <= MOST_QUARANTINED) return
    const [oldest] = this.#quarantined
    if (oldest?.state.kind === "quarantined") oldest.forget()
    else this.#quarantined.delete(oldest as RemoteNode)
  }
}

interface RemotingOptions {
  /** Who this node is at first. */
  readonly self: NodeId
  /** What the paths of this system begin with, for others. */
  readonly address: Address
  readonly namespace: string
  /** The identity of the store; empty without one. */
  readonly store: string
  readonly keys: SharedKeys
  readonly tls: TlsOptions | undefined
  readonly terms: AssociationTerms
  readonly inbound: InboundTerms
  readonly keepAlive: FrameTools["keepAlive"]
  readonly connectTimeoutMs: number
  readonly maxMessageBytes: number
  readonly codec: CodecFactory
  readonly types: TypeNames
  readonly ports: Ports
  readonly logger: Logger
  readonly events: EventStream
  readonly deadLetters: DeadLetters
  readonly deadlines: Deadlines
  readonly dispatcher: Dispatcher
  /** The ref for a path of this node. */
  local(path: ActorPath): InternalRef<never>
}

const HANDSHAKE_MS = 5_000
const MOST_QUARANTINED = 10_000
