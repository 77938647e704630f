import type { Ports } from "../../ports/ports.js"
import {
  type EtcdTlsOptions,
  type GrpcCall,
  GrpcConnection,
  type GrpcStream,
  type StreamListener,
} from "./grpc-connection.js"
import { ConnectionLost, GrpcRefusal } from "./grpc-failure.js"
import { authenticateRequest, METHODS, readToken } from "./messages.js"
import { entryFailureOf, type Failure, failureOf, StoreFailure } from "./problem.js"
import { ProtobufReader } from "./protobuf.js"
import { type Server, StoreHistory } from "./store-history.js"

export interface LinkOptions {
  readonly endpoints: readonly string[]
  readonly auth: { readonly user: string; readonly password: string } | undefined
  readonly tls: EtcdTlsOptions | undefined
  readonly timeoutMs: number
  /** All keys of the store begin with it. */
  readonly prefix: string
}

/** A transaction in flight, and what it was sent with. */
export interface SentTxn {
  readonly call: GrpcCall
  readonly connection: GrpcConnection
  readonly token: string | undefined
}

/** What follows the link: the watches of the store. */
export interface LinkFollower {
  /** Whether the link is needed even if there are no requests. */
  readonly isWaiting: boolean
  /** A connection can be used. */
  connected(): void
  /** The connection can no longer be used. */
  disconnected(): void
  epochChanged(): void
}

/**
 * The connection to an etcd cluster. One member at a time is used for everything. When it is lost, refuses
 * for want of a leader, or does not answer, the next endpoint is used. Reads that were in flight are
 * repeated. Commits may still be answered by the member that was left; one that does not answer at all is not
 * waited for if there is another, since the outcome can be read there.
 *
 * The link connects when it is asked to; it does so by itself only for a follower that waits.
 */
export class EtcdLink {
  readonly history: StoreHistory
  readonly #options: LinkOptions
  readonly #ports: Ports
  #follower: LinkFollower | undefined
  #connection: GrpcConnection | undefined
  #token: string | undefined
  #nextEndpoint: number
  #entering: Promise<void> | undefined
  #verifying: Promise<void> | undefined
  #watchdog: NodeJS.Timeout | undefined
  #returning: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: LinkOptions, ports: Ports) {
    this.history = new StoreHistory(options.prefix, ports)
    this.#options = options
    this.#ports = ports
    // Nodes that name the same endpoints do not all use the first one.
    this.#nextEndpoint = ports.random.uint32() % options.endpoints.length
  }

  follow(follower: LinkFollower): void {
    this.#follower = follower
  }

  get isReady(): boolean {
    return this.#connection !== undefined && this.#isAuthenticated
  }

  /**
   * Resolves when there is a connection. Tries every endpoint once, and rejects with a `StoreFailure` if none
   * can be used.
   */
  ready(): Promise<void> {
    if (this.isReady) return SETTLED
    this.#entering ??= this.#enterAny().finally(() => {
      this.#entering = undefined
    })
    return this.#entering
  }

  /** Sends a transaction. Throws if it cannot be sent. */
  txn(message: Uint8Array, isRead: boolean): SentTxn {
    const connection = this.#usable
    const token = this.#token
    return { connection, token, call: connection.call(METHODS.txn, message, { token, isRead }) }
  }

  /** Opens the stream of all watches. */
  watch(listener: StreamListener): GrpcStream {
    return this.#usable.stream(METHODS.watch, this.#token, listener)
  }

  /** Says what a failed transaction means, and has the next one made elsewhere where that helps. */
  failed(error: unknown, sent?: SentTxn): Failure {
    const failure = failureOf(error, sent?.connection.url ?? this.#options.endpoints.join(", "))
    // Others may have failed in the same way before, and have been heeded.
    if (failure.remedy === "another-token" && sent?.token === this.#token) this.#token = undefined
    if (failure.remedy === "another-server" && sent?.connection === this.#connection) {
      this.#leave(failure.message)
    }
    return failure
  }

  /** Authenticates before the next request. */
  renewToken(): void {
    this.#token = undefined
  }

  /** Called when the stream of the watches has ended. */
  streamEnded(error: Error): void {
    const failure = failureOf(error, this.#connection?.url ?? "")
    if (failure.remedy === "another-token") this.renewToken()
    else this.#leave(failure.message)
    this.returnSoon()
  }

  /**
   * Connects again for the follower, if no request does so first. A process does not stay alive for it.
   */
  returnSoon(pauseMs = FIRST_PAUSE_MS): void {
    clearTimeout(this.#returning)
    this.#returning = setTimeout(() => {
      if (this.#isClosed || this.#follower?.isWaiting !== true) return
      if (this.isReady) this.#follower.connected()
      else this.ready().catch(() => this.returnSoon(Math.min(2 * pauseMs, MAX_PAUSE_MS)))
    }, pauseMs).unref()
  }

  /**
   * Reads the record of the store again, because a transaction or a watch has found that it changed. Rejects
   * with a `StoreFailure`.
   */
  verify(): Promise<void> {
    this.#verifying ??= this.#verifyNow().finally(() => {
      this.#verifying = undefined
    })
    return this.#verifying
  }

  /** Begins a new epoch, and returns its id. */
  async renewEpoch(): Promise<string> {
    await this.ready()
    await this.history.renew(this.#server(this.#usable, this.#attemptEnd()))
    return this.history.epoch.id
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#watchdog)
    clearTimeout(this.#returning)
    this.#connection?.destroy()
    this.#connection = undefined
  }

  get #isAuthenticated(): boolean {
    return this.#options.auth === undefined || this.#token !== undefined
  }

  get #usable(): GrpcConnection {
    if (this.#connection === undefined) throw new ConnectionLost("there is no connection", { wasSent: false })
    return this.#connection
  }

  async #verifyNow(): Promise<void> {
    const connection = this.#usable
    try {
      const isChanged = await this.history.settle(this.#server(connection, this.#attemptEnd()))
      if (isChanged) this.#follower?.epochChanged()
    } catch (error) {
      if (this.#connection === connection) this.#leave((error as Error).message)
      throw new StoreFailure(failureOf(error, connection.url))
    }
  }

  async #enterAny(): Promise<void> {
    const { endpoints } = this.#options
    const failures: Failure[] = []
    for (const _ of endpoints) {
      const url = this.#connection?.url ?? (endpoints[this.#nextEndpoint % endpoints.length] as string)
      try {
        return await this.#enter(url)
      } catch (error) {
        if (this.#isClosed) break
        failures.push(entryFailureOf(error, url))
        if (this.#connection === undefined) this.#nextEndpoint += 1
        else this.#leave((error as Error).message)
      }
    }
    // What an operator has to put right says more than a server that cannot be reached.
    const lasting = failures.find(({ isTransient }) => !isTransient)
    throw new StoreFailure(lasting ?? failures[0] ?? CLOSED)
  }

  async #enter(url: string): Promise<void> {
    const end = this.#attemptEnd()
    if (this.#connection !== undefined) {
      await this.#authenticate(this.#connection, end)
      this.#follower?.connected()
      return
    }
    const { tls } = this.#options
    const connection = await GrpcConnection.connect(url, { tls, timeoutMs: this.#attemptMs })
    try {
      await this.#authenticate(connection, end)
      const isChanged = await this.history.settle(this.#server(connection, end))
      if (this.#isClosed || !connection.isUsable) throw new ConnectionLost("the connection has ended")
      this.#use(connection)
      if (isChanged) this.#follower?.epochChanged()
      this.#follower?.connected()
    } catch (error) {
      connection.destroy()
      throw error
    }
  }

  #use(connection: GrpcConnection): void {
    this.#connection = connection
    connection.onEnded = (cause) => {
      if (this.#connection === connection) this.#leave(cause.message)
    }
    const everyMs = (this.#options.timeoutMs * SILENT_SHARE) / 8
    this.#watchdog ??= setInterval(() => this.#watchForSilence(), everyMs).unref()
  }

  async #authenticate(connection: GrpcConnection, end: number): Promise<void> {
    const { auth } = this.#options
    if (auth === undefined) return
    const message = authenticateRequest(auth.user, auth.password)
    try {
      const options = { isRead: true, token: undefined, end }
      this.#token = readToken(await this.#ask(connection, METHODS.authenticate, message, options))
    } catch (error) {
      // A cluster without authentication serves everybody.
      if (!(error instanceof GrpcRefusal && error.message.includes(NOT_ENABLED))) throw error
      this.#token = ""
    }
  }

  #server(connection: GrpcConnection, end: number): Server {
    return {
      url: connection.url,
      ask: (method, message, isRead) =>
        this.#ask(connection, method, message, { isRead, token: this.#token, end }),
    }
  }

  async #ask(
    connection: GrpcConnection,
    method: string,
    message: Uint8Array,
    {
      end,
      ...options
    }: { readonly isRead: boolean; readonly token: string | undefined; readonly end: number },
  ): Promise<ProtobufReader> {
    const call = connection.call(method, message, options)
    const timer = setTimeout(() => call.cancel(), end - performance.now())
    try {
      return new ProtobufReader(await call.answer)
    } finally {
      clearTimeout(timer)
    }
  }

  /** A share of the timeout, so that a request has time for all endpoints. */
  get #attemptMs(): number {
    const { endpoints, timeoutMs } = this.#options
    return timeoutMs / (endpoints.length + 1)
  }

  #attemptEnd(): number {
    return performance.now() + this.#attemptMs
  }

  /** Leaves a server that does not answer; the only one may be slow, and is left when requests time out. */
  #watchForSilence(): void {
    const connection = this.#connection
    if (connection === undefined) return
    const { endpoints, timeoutMs } = this.#options
    const isOnly = endpoints.length === 1
    if (connection.isSilent(isOnly ? timeoutMs : timeoutMs * SILENT_SHARE)) {
      this.#leave("the server does not answer", { mayAnswer: isOnly })
    } else connection.pingAfter(Math.max(PING_MS, timeoutMs))
  }

  #leave(because: string, { mayAnswer = true } = {}): void {
    const connection = this.#connection
    if (connection === undefined) return
    this.#connection = undefined
    this.#nextEndpoint += 1
    connection.onEnded = () => {}
    connection.retire({ mayAnswer })
    if (this.#isClosed) return
    this.#ports.logger.log("info", "left an etcd server", { url: connection.url, because })
    this.#follower?.disconnected()
    this.returnSoon()
  }
}

const SETTLED = Promise.resolve()
const NOT_ENABLED = "authentication is not enabled"
const CLOSED: Failure = {
  problem: "closed",
  message: "the store has been closed",
  isCertain: true,
  isTransient: false,
}

/** The share of the timeout after which a member that does not answer is left for another one. */
const SILENT_SHARE = 0.4

/** etcd refuses clients that ping more often than every 5 s. */
const PING_MS = 10_000
const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 1_000
