import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2"
import type { Socket } from "node:net"
import { ConnectionLost, GrpcRefusal } from "./grpc-failure.js"
import { FrameReader, frame } from "./grpc-frames.js"

/** Certificates of a connection, in PEM. */
export interface EtcdTlsOptions {
  /** The authorities that sign the servers' certificates. Default: those that Node trusts. */
  readonly ca?: string | readonly string[]
  /** The client's certificate, if the servers ask for one. Default none. */
  readonly cert?: string
  /** The key of the client's certificate. Default none. */
  readonly key?: string
  /** The passphrase of the key. Default none. */
  readonly passphrase?: string
  /** The name that the servers' certificates must have. Default: the host of the endpoint. */
  readonly serverName?: string
}

/** What a call needs besides its message. */
interface CallOptions {
  readonly token?: string | undefined
  /** Whether the call can be given up and repeated without effect. */
  readonly isRead: boolean
}

/** A call in flight. */
export interface GrpcCall {
  /** Rejects with a `GrpcRefusal` if the server refused, or with `ConnectionLost`. */
  readonly answer: Promise<Buffer>
  /** Gives up the call. The server may still carry it out. */
  cancel(): void
}

/** A stream in both directions. */
export interface GrpcStream {
  send(message: Uint8Array): void
  cancel(): void
}

/** Receives the messages of a stream. */
export interface StreamListener {
  received(message: Buffer): void
  /** Called once, and last; not after `cancel`. */
  ended(cause: Error): void
}

/**
 * A connection to one server, which speaks gRPC over Node's HTTP/2. It does not connect again by itself.
 *
 * A connection keeps the process alive while calls are in flight. Streams do not.
 */
export class GrpcConnection {
  readonly url: string
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  /** In the order in which they were sent. */
  readonly #calls = new Set<Call>()
  #streams = 0
  #receivedAt = performance.now()
  /** Since when something is expected that was not received; also if its call was given up since. */
  #expectedSince: number | undefined
  #isPinging = false
  #isEnded = false
  #isRetired = false
  /** Called when no further call can be made. */
  onEnded: (cause: Error) => void = () => {}

  static connect(
    url: string,
    { tls, timeoutMs }: { readonly tls: EtcdTlsOptions | undefined; readonly timeoutMs: number },
  ): Promise<GrpcConnection> {
    return new Promise((resolve, reject) => {
      const { serverName, ...certificates } = tls ?? {}
      const session = connect(url, {
        ...certificates,
        ...(serverName === undefined ? {} : { servername: serverName }),
        settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
        maxSessionMemory: MAX_SESSION_MEGABYTES,
      } as Parameters<typeof connect>[1])
      const timer = setTimeout(() => {
        session.destroy(new Error(`no connection within ${Math.round(timeoutMs)} ms`))
      }, timeoutMs)
      session.on("error", reject)
      session.once("close", () => {
        clearTimeout(timer)
        reject(new Error("the connection was closed before it was established"))
      })
      session.once("connect", (_, socket) => {
        // Node tells of a connection that was lost in the same turn; that it is closed follows.
        if (session.destroyed) return
        clearTimeout(timer)
        session.setLocalWindowSize(SESSION_WINDOW_BYTES)
        resolve(new GrpcConnection(url, session, socket))
      })
    })
  }

  private constructor(url: string, session: ClientHttp2Session, socket: Socket) {
    this.url = url
    this.#session = session
    this.#socket = socket
    session.unref()
    session.on("error", (error) => this.#end(error))
    session.on("goaway", () => this.#end(new Error("the server ends the connection")))
    session.on("close", () => this.#end(new Error("the connection was closed")))
  }

  get isUsable(): boolean {
    return !this.#isEnded && !this.#isRetired
  }

  /** Throws `ConnectionLost` if the call cannot be sent. */
  call(method: string, message: Uint8Array, options: CallOptions): GrpcCall {
    const stream = this.#request(method, options.token)
    const call = new Call(stream, options.isRead)
    if (this.#calls.size === 0) this.#session.ref()
    this.#calls.add(call)
    this.#expectedSince ??= call.sentAt
    stream.on("data", () => this.received())
    stream.on("response", () => this.received())
    stream.on("close", () => this.#finished(call))
    stream.end(frame(message))
    return call
  }

  stream(method: string, token: string | undefined, listener: StreamListener): GrpcStream {
    const stream = this.#request(method, token)
    const frames = new FrameReader()
    const outcome = new Outcome(stream)
    let isCancelled = false
    this.#streams += 1
    stream.on("data", (chunk: Buffer) => {
      this.received()
      try {
        for (const message of frames.push(chunk)) if (!isCancelled) listener.received(message)
      } catch (error) {
        stream.destroy(error as Error)
      }
    })
    stream.on("close", () => {
      this.#streams -= 1
      if (!isCancelled) listener.ended(outcome.failure ?? new ConnectionLost("the stream ended"))
    })
    return {
      send: (message) => {
        if (!stream.destroyed) stream.write(frame(message))
      },
      cancel: () => {
        isCancelled = true
        giveUp(stream)
      },
    }
  }

  /** Whether an answer has been expected for so long, and nothing at all was received in that time. */
  isSilent(forMs: number): boolean {
    return this.#expectedSince !== undefined && this.#expectedSince < performance.now() - forMs
  }

  /**
   * Has the server show that it is there if nothing was received for so long. It refuses connections that do
   * this more often than every 5 s, or without a stream.
   */
  pingAfter(silentMs: number): void {
    const now = performance.now()
    if (this.#session.destroyed) return
    if (this.#streams === 0 || this.#isPinging || this.#receivedAt > now - silentMs) return
    this.#isPinging = true
    this.#expectedSince ??= now
    this.#session.ping(() => {
      this.#isPinging = false
      this.received()
    })
  }

  received(): void {
    this.#receivedAt = performance.now()
    this.#expectedSince = this.#calls.size > 0 || this.#isPinging ? this.#receivedAt : undefined
  }

  /**
   * Accepts no further calls and gives up those in flight. If the server may still answer, only calls that
   * can be repeated are given up, and the connection is closed when the others have ended.
   */
  retire({ mayAnswer }: { readonly mayAnswer: boolean }): void {
    this.#isRetired = true
    for (const call of [...this.#calls]) {
      if (call.isRead || !mayAnswer) call.abandon()
    }
    this.#closeIfIdle()
  }

  /** Closes the connection at once. A session alone keeps its socket until the server has read all of it. */
  destroy(): void {
    this.#isRetired = true
    this.#session.destroy()
    this.#socket.destroy()
  }

  #request(method: string, token: string | undefined): ClientHttp2Stream {
    if (this.#session.closed || this.#session.destroyed) this.#end(new Error("the connection was closed"))
    if (this.#isEnded) throw new ConnectionLost("the connection has ended", { wasSent: false })
    const stream = this.#session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: method,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
      [constants.HTTP2_HEADER_TE]: "trailers",
      // A server without a leader refuses the call before it does anything.
      hasleader: "true",
      ...(token === undefined || token === "" ? {} : { token }),
    })
    // Node neither ends such a stream nor tells that it accepts no others; nor may a session be ended here.
    stream.once("frameError", () => setImmediate(() => this.#unsent(stream)))
    return stream
  }

  #unsent(stream: ClientHttp2Stream): void {
    const cause = new Error("a frame could not be sent")
    stream.destroy(cause)
    this.#end(cause)
  }

  #finished(call: Call): void {
    if (!this.#calls.delete(call)) return
    if (this.#calls.size === 0 && !this.#session.destroyed) this.#session.unref()
    if (this.#calls.size === 0 && !this.#isPinging && this.#expectedSince === this.#receivedAt) {
      this.#expectedSince = undefined
    }
    if (this.#isRetired) this.#closeIfIdle()
  }

  #closeIfIdle(): void {
    if (this.#calls.size === 0) this.destroy()
  }

  #end(cause: Error): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.onEnded(cause)
  }
}

/**
 * Tells the server that nobody waits for a stream, and ends the stream at once. Without the latter it never
 * ends if the server does not read, since its headers may not have been sent yet.
 */
function giveUp(stream: ClientHttp2Stream): void {
  stream.close(constants.NGHTTP2_CANCEL)
  stream.destroy()
}

class Call implements GrpcCall {
  readonly answer: Promise<Buffer>
  readonly isRead: boolean
  readonly sentAt = performance.now()
  readonly #stream: ClientHttp2Stream
  #reject: (error: Error) => void = () => {}

  constructor(stream: ClientHttp2Stream, isRead: boolean) {
    this.#stream = stream
    this.isRead = isRead
    const outcome = new Outcome(stream)
    const frames = new FrameReader()
    let message: Buffer | undefined
    this.answer = new Promise((resolve, reject) => {
      this.#reject = reject
      const settle = () => {
        const { failure, isOk } = outcome
        if (isOk && message !== undefined) resolve(message)
        else reject(failure ?? new ConnectionLost("the connection ended before the answer"))
      }
      stream.on("data", (chunk: Buffer) => {
        try {
          message = frames.push(chunk)[0] ?? message
        } catch (error) {
          stream.destroy(error as Error)
        }
      })
      stream.on("end", () => {
        if (outcome.isOk) settle()
      })
      stream.on("close", settle)
    })
    // A call that was given up has nobody who awaits it.
    this.answer.catch(() => {})
  }

  cancel(): void {
    this.#end(new ConnectionLost("the call was given up", { isGivenUp: true }))
  }

  abandon(): void {
    this.#end(new ConnectionLost("the server does not answer"))
  }

  #end(because: ConnectionLost): void {
    this.#reject(because)
    giveUp(this.#stream)
  }
}

/** How a stream ended: what the server said in its last headers, or what happened to the connection. */
class Outcome {
  readonly #stream: ClientHttp2Stream
  #httpStatus = 200
  #status: number | undefined
  #message = ""
  #error: Error | undefined

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream
    stream.on("response", (headers) => {
      this.#httpStatus = Number(headers[":status"])
      this.#read(headers)
    })
    stream.on("trailers", (headers) => this.#read(headers))
    stream.on("error", (error) => {
      this.#error = error
    })
  }

  get isOk(): boolean {
    return this.#status === 0
  }

  get failure(): Error | undefined {
    if (this.#status !== undefined) {
      return this.#status === 0 ? undefined : new GrpcRefusal(this.#status, this.#message)
    }
    if (this.#httpStatus !== 200) return new GrpcRefusal(UNIMPLEMENTED, `HTTP status ${this.#httpStatus}`)
    const wasSent = this.#stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM
    return this.#error && new ConnectionLost(this.#error.message, { wasSent, cause: this.#error })
  }

  #read(headers: Readonly<Record<string, unknown>>): void {
    const status = headers["grpc-status"]
    if (status === undefined) return
    this.#status = Number(status)
    this.#message = unescaped(String(headers["grpc-message"] ?? ""))
  }
}

function unescaped(message: string): string {
  try {
    return decodeURIComponent(message)
  } catch {
    return message
  }
}

/** gRPC's status of a method that the server does not have. */
const UNIMPLEMENTED = 12
const WINDOW_BYTES = 4 * 1024 * 1024
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024
const MAX_SESSION_MEGABYTES = 512
