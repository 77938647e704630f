import type { DeadLetters } from "../actor/dead-letters.js"
import type { Deadlines } from "../actor/deadlines.js"
import type { Dispatcher } from "../actor/dispatcher.js"
import type { EventStream } from "../actor/event-stream.js"
import type { InternalRef } from "../actor/internal-ref.js"
import { LimitedLogger } from "../actor/limited-logger.js"
import { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import type { NodeId } from "../address/node-id.js"
import { PathResolutionError } from "../address/path-resolution-error.js"
import { NetworkError } from "../errors/network-error.js"
import type { CodecFactory, TypeNames } from "../ports/codec.js"
import type { Digest } from "../ports/digest.js"
import type { Logger } from "../ports/logger.js"
import type { Arrival, Connection, Endpoint, Listener, TlsOptions } from "../ports/network.js"
import type { Ports } from "../ports/ports.js"
import { Association, type AssociationState, type AssociationTerms } from "./association.js"
import { ConnectionRefused } from "./association-events.js"
import type { DeferredCount } from "./deferred-queue.js"
import { DialSlots } from "./dial-slots.js"
import { advice, adviceFor, type DisconnectReason } from "./disconnect-reason.js"
import type { FrameTools } from "./frame-connection.js"
import { BATCH_ALLOWANCE_BYTES, MAX_NAME_BYTES } from "./frames.js"
import type { HandshakeTerms, Peer } from "./handshake.js"
import type { InboundTerms } from "./inbound-budget.js"
import { type Greeting, PeerConnection } from "./peer-connection.js"
import { ReadingTurn } from "./reading-turn.js"
import { RemoteNode, type RemoteNodeTools } from "./remote-node.js"
import { RemoteRef } from "./remote-ref.js"
import type { SharedKeys } from "./shared-keys.js"
import { Speech } from "./speech.js"
import { type StrangerCommand, Strangers } from "./strangers.js"

/**
 * Everything that a system has with other nodes: who is who by authority, who is coming in, and what refs to elsewhere mean.
 */
export class Remoting {
  readonly #options: RemotingOptions
  readonly #listener: Listener
  readonly #speech: Speech
  readonly #nodes = new Map<string, RemoteNode>()
  readonly #connections = new Set<PeerConnection>()
  /** Those who came and have not proven who they are; and the connections of those that have got so far. */
  readonly #strangers = new Strangers<Arrival>(MOST_STRANGERS)
  readonly #unproven = new Map<Arrival, PeerConnection>()
  /** The nodes that are or were quarantined, the longest known first. */
  readonly #quarantined = new Set<RemoteNode>()
  readonly #deferred: DeferredCount = { count: 0 }
  readonly #frameTools: FrameTools
  readonly #nodeTools: RemoteNodeTools
  #self: NodeId
  #correlations = 0
  #isStopping = false
  #refusals = 0
  #quietUntil = Number.NEGATIVE_INFINITY
  readonly #slots = new DialSlots(MOST_DIALS)
  /** Says whom this node may dial; everybody where nobody knows who is in the cluster. */
  #isMember: ((authority: string) => boolean) | undefined

  constructor(options: RemotingOptions, listener: Listener) {
    this.#self = options.self
    this.#options = options
    this.#listener = listener
    const { clock, scheduler, digest } = options.ports
    const { logger, events, deadLetters, deadlines, maxMessageBytes, terms } = options
    // What others can cause is logged with a limit.
    const limited = new LimitedLogger(logger, clock)
    this.#speech = new Speech({
      codec: options.codec,
      types: options.types,
      clock,
      maxMessageBytes,
      deadLetters,
      deadlines,
      logger: limited,
      inbound: {
        terms: options.inbound,
        turn: new ReadingTurn(scheduler),
        dispatcher: options.dispatcher,
      },
      resolve: (path) => this.resolve(path),
      target: (path) => options.local(path),
      questionPath: (peer, correlation) =>
        questionPath(peer.address, correlation, answerUid(digest, peer, peer.node, correlation)),
      ownQuestionPath: (peer, correlation) =>
        questionPath(options.address, correlation, answerUid(digest, peer, this.#self, correlation)),
    })
    this.#frameTools = {
      clock,
      scheduler,
      digest,
      logger: limited,
      keepAlive: options.keepAlive,
      handshakeMs: HANDSHAKE_MS,
      maxBodyBytes: maxMessageBytes + BATCH_ALLOWANCE_BYTES,
      backlogBytes: terms.bytes,
    }
    this.#nodeTools = {
      clock,
      logger,
      limited,
      mayDial: (authority) => this.#isMember?.(authority) !== false,
      events,
      speech: this.#speech,
      deferredCapacity: terms.perAuthority,
      outboundBytes: terms.bytes,
      isTls: options.tls !== undefined,
      nextCorrelation: () => {
        this.#correlations += 1
        return this.#correlations
      },
      dial: (node) => this.#dial(node),
      forget: (node) => {
        this.#quarantined.delete(node)
        if (this.#nodes.get(node.authority) === node) this.#nodes.delete(node.authority)
      },
      quarantined: (node) => this.#remember(node),
    }
  }

  /** This life of this node. */
  get self(): NodeId {
    return this.#self
  }

  /**
   * Goes on as the next incarnation of this node, for one that may not act as the last one any more. What was said as the last one
   * ends: connections, handshakes, the questions that were sent, and what others watch here. What was not sent is kept, actors
   * do not notice, and what they watch elsewhere is watched on. Correlations are counted on: an answer to a question of the
   * last life finds none of this one, whichever way it comes.
   */
  reincarnate(self: NodeId): void {
    const before = this.#self
    if (self.address !== before.address || self.equals(before))
      throw new TypeError(`${self} is no other incarnation of ${before}`)
    this.#options.logger.log("info", "this node goes on as a new incarnation", {
      before: before.toString(),
      now: self.toString(),
    })
    this.#self = self
    for (const peer of [...this.#unproven.values()]) peer.close("reincarnated")
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

  /** The question that waits for an answer at this path, which this node gave to another. Nobody finds it by guessing. */
  questionAt(path: ActorPath): InternalRef<never> | undefined {
    const correlation = correlationOf(path.name)
    if (correlation === undefined) return undefined
    for (const { session } of this.#nodes.values()) {
      const question = session?.question(correlation)
      if (session === undefined || question === undefined) continue
      const uid = answerUid(this.#options.ports.digest, session.peer, this.#self, correlation)
      return uid === path.uid ? question : undefined
    }
    return undefined
  }

  /** Undefined where there is nothing with that authority. */
  state(authority: string): AssociationState | undefined {
    return this.#nodes.get(authority)?.state
  }

  /** From now on only these are dialled: a message may hold a ref to any address, and whoever is dialled is told who this node is. */
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

  /** Somebody has connected. With TLS its handshake is still to come. */
  arrived(arrival: Arrival): void {
    this.#do(this.#strangers.arrived(arrival, arrival.remote.host))
  }

  accept(connection: Connection, arrival?: Arrival): void {
    if (arrival !== undefined && this.#strangers.has(arrival)) return this.#greet(connection, arrival)
    const late: Arrival = {
      remote: connection.remote,
      admit: () => this.#greet(connection, late),
      drop: () => connection.destroy(),
    }
    this.arrived(late)
  }

  #greet(connection: Connection, arrival: Arrival): void {
    const left = () => {
      this.#unproven.delete(arrival)
      this.#do(this.#strangers.left(arrival))
    }
    const peer: PeerConnection = new PeerConnection(
      connection,
      this.#frameTools,
      this.#greeting(connection, (nonce) => this.#strangers.greeted(arrival, nonce)),
      {
        kind: "listener",
        owner: (node) => this.#nodeOf(node.address),
        refused: (because, detail) => this.#turnedAway(peer.remote, because, detail),
        over: () => {
          this.#connections.delete(peer)
          left()
        },
        settled: left,
      },
    )
    this.#connections.add(peer)
    this.#unproven.set(arrival, peer)
    peer.start()
  }

  #do(commands: readonly StrangerCommand<Arrival>[]): void {
    for (const { kind, stranger } of commands) {
      if (this.#isStopping) stranger.drop()
      else if (kind === "admit") stranger.admit()
      else this.#crowdOut(stranger)
    }
  }

  #crowdOut(stranger: Arrival): void {
    const peer = this.#unproven.get(stranger)
    if (peer !== undefined) return peer.close("crowded-out")
    stranger.drop()
    this.#turnedAway(written(stranger.remote), "crowded-out", "")
  }

  /** Somebody whose TLS handshake failed. */
  refused(remote: Endpoint, error: NetworkError, arrival: Arrival): void {
    this.#do(this.#strangers.left(arrival))
    const because = error.code === "Untrusted" ? "untrusted" : "unreachable"
    this.#turnedAway(written(remote), because, error.message)
  }

  /** Says goodbye to all, and gives them a moment to read it. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#listener.close()
    for (const node of [...this.#nodes.values()]) node.stop()
    for (const peer of [...this.#unproven.values()]) peer.close("stopping")
    await Promise.all([...this.#connections].map((connection) => connection.gone))
  }

  readonly #nodeOf = (authority: string): RemoteNode => {
    const known = this.#nodes.get(authority)
    if (known !== undefined) return known
    const { random } = this.#options.ports
    const association = new Association<never>({
      authority,
      self: () => this.#self,
      terms: this.#options.terms,
      jitter: () => random.uint32() / 2 ** 32,
      all: this.#deferred,
    })
    const node = new RemoteNode(association, this.#nodeTools)
    if (this.#isStopping) node.stop()
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

  #greeting({ bears }: Connection, greeted: HandshakeTerms["greeted"] = () => true): Greeting {
    const { address, namespace, keys, tls, maxMessageBytes, ports } = this.#options
    const { digest, random } = ports
    return {
      speech: this.#speech,
      terms: {
        self: this.#self,
        namespace,
        system: address.system,
        codec: this.#speech.codecName,
        store: this.#options.store,
        maxMessageBytes,
        keys: keys.keys,
        digest,
        random,
        judge: (peer) => {
          if (this.#isStopping) return "stopping"
          if (peer.equals(this.#self)) return "self"
          return this.#nodes.get(peer.address)?.judge(peer)
        },
        greeted,
        connectionWith: (peer) => this.#nodes.get(peer.address)?.session,
        bears:
          bears === undefined || tls?.mutual !== true ? undefined : (host) => bears(tls.serverName ?? host),
      },
    }
  }

  #dial(node: RemoteNode): () => void {
    const { ports, tls, connectTimeoutMs } = this.#options
    const abort = new AbortController()
    let peer: PeerConnection | undefined
    let free = () => {}
    const begin = (connection: Connection) => {
      if (abort.signal.aborted) return connection.destroy()
      const made: PeerConnection = new PeerConnection(
        connection,
        this.#frameTools,
        this.#greeting(connection),
        {
          kind: "dialler",
          authority: node.authority,
          owner: () => node,
          refused: (because, detail, by) => {
            free()
            if (abort.signal.aborted) return
            if (because === "wrong-secret" && by === "us")
              node.dialRefuted(made.claimed, `${detail}; ${advice[because]}`)
            else node.dialFailed(because)
          },
          over: () => {
            free()
            this.#connections.delete(made)
          },
          settled: () => free(),
        },
      )
      peer = made
      node.dialAnswered()
      this.#connections.add(made)
      made.start()
    }
    const connect = () =>
      ports.network
        .connect(endpointOf(node.authority), { signal: abort.signal, tls, timeoutMs: connectTimeoutMs })
        .then(begin, (error: unknown) => {
          free()
          if (abort.signal.aborted) return
          this.#options.logger.log("debug", "a node could not be dialled", {
            authority: node.authority,
            error,
          })
          node.dialFailed(
            error instanceof NetworkError && error.code === "Untrusted" ? "untrusted" : "unreachable",
          )
        })
    free = this.#slots.take(() => void connect())
    return () => {
      abort.abort()
      free()
      peer?.abandon()
    }
  }

  #turnedAway(remote: string, because: DisconnectReason, detail: string): void {
    const { events, logger, ports } = this.#options
    events.publish(new ConnectionRefused(remote, because, detail))
    const now = ports.clock.monotonicMs()
    if (now >= this.#quietUntil) this.#refusals = 0
    this.#refusals += 1
    if (this.#refusals === 1) this.#quietUntil = now + 60_000
    if (this.#refusals > LOGGED_A_MINUTE) return
    logger.log(because === "duplicate" ? "debug" : "warn", "a connection was refused", {
      remote,
      reason: because,
      detail,
      advice: adviceFor(because, this.#nodeTools),
      ...(this.#refusals === LOGGED_A_MINUTE ? { note: "no more of these for a minute" } : {}),
    })
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
/** Those who may be unproven at one time, and those who may wait for that: as many as nodes of a large cluster that come at once. */
const MOST_STRANGERS = 512
const MOST_QUARANTINED = 10_000
const LOGGED_A_MINUTE = 10
/** Nodes that are dialled at one time. */
const MOST_DIALS = 256

function written({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
}

/** `host:port`, where an IPv6 host is in brackets. */
function endpointOf(authority: string): { host: string; port: number } {
  const colon = authority.lastIndexOf(":")
  const host = authority.slice(0, colon)
  return {
    host: host.startsWith("[") ? host.slice(1, -1) : host,
    port: Number(authority.slice(colon + 1)),
  }
}

/** Questions that went to another node are found by their correlation, and by what nobody can guess. */
function questionPath(address: Address, correlation: number, uid: number): ActorPath {
  return ActorPath.root(address, "system")
    .child("temp")
    .child(`${QUESTION}${correlation.toString(36)}`, { runtimeNames: true })
    .withUid(uid)
}

const QUESTION = "$~"

function correlationOf(name: string): number | undefined {
  return name.startsWith(QUESTION) ? Number.parseInt(name.slice(QUESTION.length), 36) : undefined
}

/** Known to both ends of the connection that the question went by, and to whomever they tell: only these can answer. */
function answerUid(digest: Digest, { answerKey }: Peer, asker: NodeId, correlation: number): number {
  const mac = Buffer.from(digest.hmacSha256(answerKey, Buffer.from(`${asker} ${correlation}`)))
  // As many bits as a uid has.
  return mac.readUIntBE(0, 6) * 16 + (mac.readUInt8(6) >> 4) + 1
}
