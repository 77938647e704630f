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
import type { FrameDependencies } from "./frame-connection.js"
import { BATCH_ALLOWANCE_BYTES, MAX_NAME_BYTES } from "./frames.js"
import type { InboundTerms } from "./inbound-budget.js"
import type { MemberLink } from "./member-link.js"
import { MessageCodec } from "./message-codec.js"
import { PeerConnections } from "./peer-connections.js"
import { answerUid, correlationOf, questionPath } from "./question-path.js"
import { ReadingTurn } from "./reading-turn.js"
import { RemoteNode } from "./remote-node.js"
import type { RemoteNodeDependencies } from "./remote-node-dependencies.js"
import { RemoteRef } from "./remote-ref.js"
import type { SharedKeys } from "./shared-keys.js"

/**
 * The connections of a system with other nodes: the nodes by authority, incoming connections, and the
 * resolution of paths of other nodes.
 */
export class Remoting {
  /** Handles incoming connections. */
  readonly arrivals: Arrivals
  readonly #options: RemotingOptions
  readonly #listener: Listener
  readonly #codec: MessageCodec
  readonly #nodes = new Map<string, RemoteNode>()
  readonly #connections: PeerConnections
  /** The nodes that are or were quarantined, oldest first. */
  readonly #quarantined = new Set<RemoteNode>()
  readonly #deferred: DeferredCount = { count: 0 }
  readonly #nodeDependencies: RemoteNodeDependencies
  #correlations = 0
  /** Says which nodes may be dialled; undefined if membership is not known, which allows all. */
  #isMember: ((authority: string) => boolean) | undefined

  constructor(options: RemotingOptions, listener: Listener) {
    this.#options = options
    this.#listener = listener
    const { clock, scheduler, digest, random, network } = options.ports
    const { logger, events, deadLetters, deadlines, maxMessageBytes, terms, tls } = options
    const isTls = tls !== undefined
    // Entries that peers can cause are rate-limited.
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
    const frameDependencies: FrameDependencies = {
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
      frameDependencies,
      digest,
      random,
    })
    this.arrivals = new Arrivals({ clock, logger, events, isTls, nodeOf: this.#nodeOf }, this.#connections)
    const dialler = new Dialler(
      { network, tls, timeoutMs: options.connectTimeoutMs, logger },
      this.#connections,
    )
    this.#nodeDependencies = {
      clock,
      logger,
      limited,
      mayDial: (authority) => this.#isMember?.(authority) !== false,
      events,
      codec: this.#codec,
      deferredCapacity: terms.perAuthority,
      outboundBytes: terms.bytes,
      isTls,
      link: () => this.#connections.link,
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

  /** The name of the codec of messages. */
  get codecName(): string {
    return this.#codec.name
  }

  /** The current incarnation of this node. */
  get self(): NodeId {
    return this.#connections.self
  }

  /**
   * Continues as a new incarnation of this node, which may no longer act as the previous one. This ends
   * connections, handshakes, questions that were sent, and watches by other nodes. Queued messages are
   * kept, local actors are not affected, and their watches of remote actors continue. Correlations are not
   * reset, so a late answer to a question of the previous incarnation never matches a new one.
   */
  reincarnate(self: NodeId): void {
    const before = this.self
    if (self.address !== before.address || self.equals(before))
      throw new TypeError(`not another incarnation of ${before} (got ${self})`)
    this.#options.logger.log("info", "this node continues as a new incarnation", {
      before: before.toString(),
      now: self.toString(),
    })
    this.#connections.self = self
    this.arrivals.closeUnproven("reincarnated")
    for (const node of [...this.#nodes.values()]) node.reincarnated()
  }

  /** Returns the ref for a path of this node or of another. */
  resolve(path: ActorPath): InternalRef<never> {
    const { authority, port } = path.address
    if (authority === undefined || path.address.key === this.#options.address.key)
      return this.#options.local(path)
    if (port === undefined) {
      throw new PathResolutionError(
        "Unresolved",
        path.toString(),
        "the path of another node must have a port",
      )
    }
    if (path.toString().length > MAX_NAME_BYTES) {
      throw new PathResolutionError(
        "Unresolved",
        path.toString(),
        `the path of another node must have at most ${MAX_NAME_BYTES} characters`,
      )
    }
    return new RemoteRef(path, this.#nodeOf)
  }

  /**
   * Returns the question that waits for an answer at this path, which this node has given to another. The
   * uid of the path cannot be guessed.
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

  /** The number of nodes that this one is connected with. */
  get connected(): number {
    let connected = 0
    for (const { state } of this.#nodes.values()) if (state.kind === "connected") connected += 1
    return connected
  }

  /** Undefined if there is no association with that authority. */
  state(authority: string): AssociationState | undefined {
    return this.#nodes.get(authority)?.state
  }

  /**
   * Restricts dials to these nodes. A message may hold a ref to any address, and a dial reveals the identity
   * of this node.
   */
  dialOnly(isMember: (authority: string) => boolean): void {
    this.#isMember = isMember
  }

  /** Connects membership. */
  attach(link: MemberLink): void {
    this.#connections.link = link
  }

  /** Sends what membership says. False if there is no connection with that address that takes it. */
  sendMembership(authority: string, payload: Uint8Array): boolean {
    return this.#nodes.get(authority)?.sendMembership(payload) ?? false
  }

  /** Says whether membership needs a connection with the node at this address. */
  keep(authority: string, isKept: boolean): void {
    if (isKept) this.#nodeOf(authority).keep(true)
    else this.#nodes.get(authority)?.keep(false)
  }

  /** Closes the connection with a node that the cluster has removed. */
  disconnect(node: NodeId): void {
    const session = this.#nodes.get(node.address)?.session
    if (session?.node.equals(node) === true) session.close("removed")
  }

  /** The cluster has removed a node: the watches of its actors end at once, connected or not. */
  removed(node: NodeId): void {
    this.#nodes.get(node.address)?.removed(node)
  }

  /** Called when the node at this address was seen to be alive by other means than a connection. */
  alive(authority: string): void {
    this.#nodes.get(authority)?.alive()
  }

  quarantine(authority: string, because: string): void {
    this.#nodeOf(authority).quarantine(because)
  }

  liftQuarantine(authority: string): void {
    this.#nodes.get(authority)?.liftQuarantine()
  }

  /** Sends GOODBYE to all nodes, and waits for a bounded time until they have read it. */
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
    const node = new RemoteNode(association, this.#nodeDependencies)
    if (this.#connections.isStopping) node.stop()
    else this.#nodes.set(authority, node)
    return node
  }

  /** Bounds the quarantined nodes: a peer that knows the secret can claim any address. */
  #remember(node: RemoteNode): void {
    this.#quarantined.add(node)
    if (this.#quarantined.size <= MOST_QUARANTINED) return
    const [oldest] = this.#quarantined
    if (oldest?.state.kind === "quarantined") oldest.forget()
    else this.#quarantined.delete(oldest as RemoteNode)
  }
}

interface RemotingOptions {
  /** The first incarnation of this node. */
  readonly self: NodeId
  /** The address that the paths of this system have on other nodes. */
  readonly address: Address
  readonly namespace: string
  /** The identity of the store; empty without a store. */
  readonly store: string
  readonly keys: SharedKeys
  readonly tls: TlsOptions | undefined
  readonly terms: AssociationTerms
  readonly inbound: InboundTerms
  readonly keepAlive: FrameDependencies["keepAlive"]
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
  /** Returns the ref for a path of this node. */
  local(path: ActorPath): InternalRef<never>
}

const HANDSHAKE_MS = 5_000
const MOST_QUARANTINED = 10_000
