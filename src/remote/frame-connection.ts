import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Digest } from "../ports/digest.js"
import type { Logger } from "../ports/logger.js"
import type { CloseReason, Connection, ConnectionHandler } from "../ports/network.js"
import type { Scheduler } from "../ports/scheduler.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { BatchReader, type StreamProblem } from "./batch-reader.js"
import { BatchWriter } from "./batch-writer.js"
import type { DisconnectReason } from "./disconnect-reason.js"
import { ALIVE, BATCH_BYTES, GOODBYE, MAX_HANDSHAKE_BYTES, PING, PROBE } from "./frames.js"
import type { ReadControl } from "./inbound-flow.js"

/**
 * A connection that reads and writes frames, and detects a peer that has become silent.
 *
 * All frames written in one turn of the event loop leave as one batch, after the turn and its microtasks.
 * While `isBlocked`, nothing is handed to the network; the caller then has to limit what it writes.
 *
 * The handler of the frames may pause reading, also in the middle of a batch.
 *
 * Keep-alive uses one slow timer. If nothing was sent since it last fired, the connection sends a PING. A
 * peer from which no complete batch arrived within the time-out is given up, and so is a peer that takes
 * too long to complete a batch. A timer that fires late shows that this process was suspended; the peer is
 * then not blamed until the timer fires again.
 */
export class FrameConnection implements ConnectionHandler, ReadControl {
  readonly writer: BatchWriter
  readonly remote: string
  /** Resolves when the transport has closed. */
  readonly gone: Promise<void>
  #resolveGone: () => void = () => {}
  readonly #connection: Connection
  readonly #dependencies: FrameDependencies
  /** Takes the next frames: the handler, until there is a session. */
  receiver: FrameReceiver
  readonly #handler: FrameHandler
  readonly #reader: BatchReader
  readonly #input = new InputBytes(Buffer.alloc(0), 0, 0)
  #isEstablished = false
  #isClosed = false
  #hasAnsweredAll = false
  #isBlocked = false
  /** Batches that wait while the network is blocked. */
  #backlog: Buffer[] = []
  #backlogBytes = 0
  #flushScheduled = false
  #timer: Timer | undefined
  #wroteSince = false
  #receivedAt: MonotonicMs
  #bodies = 0
  /** When the incomplete batch began. */
  #begunAt: MonotonicMs | undefined
  #tickDueAt: MonotonicMs = Number.POSITIVE_INFINITY
  /** Callbacks that wait for the outcome of a probe. */
  #probes: ((isAlive: boolean) => void)[] = []
  #probeTimer: Timer | undefined
  #isHeld = false
  /** The rest of the body in which reading was paused. */
  #rest: { readonly bytes: Buffer; readonly start: number; readonly end: number } | undefined
  /** Whether the peer has ended while bytes that it sent before are still unread. */
  #hasEnded = false

  constructor(connection: Connection, dependencies: FrameDependencies, handler: FrameHandler) {
    this.#connection = connection
    this.#dependencies = dependencies
    this.#handler = handler
    this.receiver = handler
    this.writer = new BatchWriter(dependencies.digest)
    this.#reader = new BatchReader(dependencies.digest, MAX_HANDSHAKE_BYTES)
    const { host, port } = connection.remote
    this.remote = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve
    })
    this.#receivedAt = dependencies.clock.monotonicMs()
    this.#timer = dependencies.clock.setTimer(dependencies.handshakeMs, () => this.close("handshake-timeout"))
  }

  /** Begins to read; the handler must be ready for frames. */
  start(): void {
    this.#connection.attach(this)
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  /** Whether the peer has said goodbye, and that it has answered every question that it received. */
  get hasAnsweredAll(): boolean {
    return this.#hasAnsweredAll
  }

  get isBlocked(): boolean {
    return this.#isBlocked
  }

  /** Called after the handshake: accepts batches of full length and starts keep-alive. */
  established(): void {
    if (this.#isClosed) throw new Error("cannot establish a closed connection")
    this.#isEstablished = true
    this.#reader.maxBodyBytes = this.#dependencies.maxBodyBytes
    this.#timer?.cancel()
    this.#receivedAt = this.#dependencies.clock.monotonicMs()
    this.#setTimer()
  }

  /** Sends a PROBE, and reports whether the peer answered in time. */
  probe(answered: (isAlive: boolean) => void): void {
    if (this.#isClosed) return answered(false)
    this.#probes.push(answered)
    if (this.#probes.length > 1) return
    this.writer.frame(PROBE)
    this.flush()
    this.#awaitAnswer(this.#isBlocked, 1)
  }

  /**
   * The peer is not to blame if the PROBE left late, or if this process was suspended and may not have read
   * the answer: it then gets one more round.
   */
  #awaitAnswer(isDelayed: boolean, moreRounds: number): void {
    const { clock } = this.#dependencies
    const dueAt = clock.monotonicMs() + PROBE_MS
    this.#probeTimer = clock.setTimer(PROBE_MS, () => {
      const wasSuspended = clock.monotonicMs() - dueAt > PROBE_MS / 2
      if ((wasSuspended || isDelayed) && moreRounds > 0) this.#awaitAnswer(false, moreRounds - 1)
      // While reading is paused, an answer may have arrived unread.
      else this.#probed(this.#isHeld)
    })
  }

  #probed(isAlive: boolean): void {
    this.#probeTimer?.cancel()
    for (const answered of this.#probes.splice(0)) answered(isAlive)
  }

  /** Ends the frame that is open in the writer, and schedules its sending. */
  closeFrame(frame: number): void {
    this.writer.close(frame)
    this.written()
  }

  /** Called when frames were written: sends them at the end of the turn, or now if the batch is large. */
  written(): void {
    if (this.writer.size >= BATCH_BYTES) this.flush()
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true
      this.#dependencies.scheduler.afterMicrotasks(this.#flushLater)
    }
  }

  readonly #flushLater = (): void => {
    this.#flushScheduled = false
    this.flush()
  }

  flush(): void {
    if (this.writer.size === 0 || this.#isClosed) return
    if (this.#isBlocked) return this.#setAside()
    this.#wroteSince = true
    this.#isBlocked = !this.#connection.write(this.writer.take())
  }

  /**
   * Keeps frames that are sent even to a peer that does not read: failures and ends of actors. They are few,
   * and bounded by `backlogBytes`.
   */
  #setAside(): void {
    if (this.writer.size < BATCH_BYTES) return
    const batch = this.writer.take()
    this.#backlog.push(batch)
    this.#backlogBytes += batch.length
    if (this.#backlogBytes > this.#dependencies.backlogBytes) this.close("slow")
  }

  /** Closes at once, also during `finish`. Unsent bytes are lost. */
  close(because: DisconnectReason, detail = ""): void {
    if (!this.#isClosed) this.#end(because, detail)
    this.#connection.destroy()
  }

  /** Closes after the written bytes were sent, or after `LINGER_MS`. */
  finish(because: DisconnectReason, detail = ""): void {
    if (this.#isClosed) return
    for (const batch of this.#backlog) this.#connection.write(batch)
    this.#isBlocked = false
    this.flush()
    this.#end(because, detail)
    this.#connection.end()
    this.#timer = this.#dependencies.clock.setTimer(LINGER_MS, () => this.#connection.destroy())
  }

  data(chunk: Uint8Array): void {
    if (this.#isClosed) return
    const before = this.#bodies
    this.#read(this.#reader.push(asBuffer(chunk), this.#body), before)
  }

  #read(problem: StreamProblem | undefined, before = this.#bodies): void {
    if (problem !== undefined && !this.#isEstablished)
      this.close("malformed", "it does not begin like a Troupe node")
    else if (problem !== undefined) this.close(problem)
    else if (this.#reader.announced === 0) this.#begunAt = undefined
    else if (this.#bodies !== before) this.#begunAt = this.#dependencies.clock.monotonicMs()
    else this.#begunAt ??= this.#dependencies.clock.monotonicMs()
  }

  /** Pauses reading after the current frame; back-pressure then slows the peer. */
  pauseReading(): void {
    if (this.#isHeld || this.#isClosed) return
    this.#isHeld = true
    this.#connection.pause()
  }

  resumeReading(): void {
    if (!this.#isHeld || this.#isClosed) return
    this.#isHeld = false
    const rest = this.#rest
    this.#rest = undefined
    if (rest !== undefined && !this.#frames(rest.bytes, rest.start, rest.end)) return
    this.#read(this.#reader.resume(this.#body))
    if (this.#isHeld || this.#isClosed) return
    if (this.#hasEnded) this.close("ended")
    else this.#connection.resume()
  }

  broke(error: unknown): void {
    this.#dependencies.logger.log("error", "failed to handle a frame", { remote: this.remote, error })
    this.close("failed-on")
  }

  drained(): void {
    this.#isBlocked = false
    if (this.#isClosed) return
    for (let batch = this.#backlog.shift(); batch !== undefined; batch = this.#backlog.shift()) {
      this.#backlogBytes -= batch.length
      this.#isBlocked = !this.#connection.write(batch)
      if (this.#isBlocked) return
    }
    this.flush()
    if (!this.#isBlocked) this.#handler.drained()
  }

  ended(): void {
    if (this.#isClosed) this.#connection.destroy()
    else if (this.#isHeld) this.#hasEnded = true
    else this.close("ended")
  }

  closed(reason: CloseReason): void {
    this.#timer?.cancel()
    this.#resolveGone()
    if (this.#isClosed) return
    this.#end(reason.kind === "failed" ? "unreachable" : "ended", failureOf(reason))
  }

  readonly #body = (bytes: Buffer, start: number, end: number): boolean => {
    this.#receivedAt = JUST_RECEIVED
    this.#bodies += 1
    return this.#frames(bytes, start, end)
  }

  /** Handles the frames of a body. Returns whether to continue with the next one. */
  #frames(bytes: Buffer, start: number, end: number): boolean {
    const input = this.#input
    let at = start
    try {
      while (at < end && !this.#isClosed) {
        input.reset(bytes, at, end)
        const length = input.u32()
        const next = input.at + length
        if (length === 0 || next > end) throw new MalformedBytesError("a frame exceeds its batch")
        input.end = next
        const kind = input.u8()
        if (kind < PING || kind > ALIVE || !this.#isEstablished) this.receiver.receive(kind, input)
        else this.#receiveControl(kind, input)
        at = next
        if (this.#isHeld) break
      }
    } catch (error) {
      if (error instanceof MalformedBytesError) this.close("malformed", error.message)
      // A defect of this node: it costs the connection, not the process.
      else this.broke(error)
    }
    if (this.#isHeld && at < end) this.#rest = { bytes, start: at, end }
    return !this.#isClosed && !this.#isHeld
  }

  #receiveControl(kind: number, input: InputBytes): void {
    const hasAnsweredAll = kind === GOODBYE && readFlag(input)
    if (input.left > 0) throw new MalformedBytesError("a frame has trailing bytes")
    if (kind === PING) return
    if (kind === GOODBYE) {
      this.#hasAnsweredAll = hasAnsweredAll
      this.close("left")
    } else if (kind === ALIVE) this.#probed(true)
    else {
      this.writer.frame(ALIVE)
      this.flush()
    }
  }

  #end(because: DisconnectReason, detail: string): void {
    this.#isClosed = true
    this.#backlog = []
    this.#rest = undefined
    // Otherwise the end of the peer would never be noticed.
    if (this.#isHeld) this.#connection.resume()
    this.#timer?.cancel()
    this.#handler.closed(because, detail)
    this.#probed(false)
  }

  #setTimer(): void {
    const { clock, keepAlive } = this.#dependencies
    this.#tickDueAt = clock.monotonicMs() + keepAlive.intervalMs
    this.#timer = clock.setTimer(keepAlive.intervalMs, () => this.#tick())
  }

  #tick(): void {
    const { clock, keepAlive } = this.#dependencies
    const now = clock.monotonicMs()
    // A peer whose bytes are not read is not silent.
    const isExcused = now - this.#tickDueAt > keepAlive.intervalMs || this.#isHeld
    if (this.#receivedAt === JUST_RECEIVED || isExcused) this.#receivedAt = now
    if (isExcused && this.#begunAt !== undefined) this.#begunAt = now
    if (now - this.#receivedAt >= keepAlive.timeoutMs && this.#begunAt === undefined)
      return this.close("silent")
    const allowedMs = keepAlive.timeoutMs + this.#reader.announced / LEAST_BYTES_A_MS
    if (this.#begunAt !== undefined && now - this.#begunAt >= allowedMs) return this.close("slow")
    if (!this.#wroteSince && !this.#isBlocked) {
      this.writer.frame(PING)
      this.flush()
    }
    this.#wroteSince = false
    this.#setTimer()
  }
}

export interface FrameDependencies {
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly digest: Digest
  readonly logger: Pick<Logger, "log">
  readonly keepAlive: { readonly intervalMs: number; readonly timeoutMs: number }
  readonly handshakeMs: number
  /** The longest body of a batch after the handshake. */
  readonly maxBodyBytes: number
  /** Limit of the bytes that are kept for a peer that does not read. */
  readonly backlogBytes: number
}

/** Takes the frames of a connection. */
interface FrameReceiver {
  /** Handles a frame. A `MalformedBytesError` closes the connection. */
  receive(kind: number, input: InputBytes): void
}

export interface FrameHandler extends FrameReceiver {
  /** Called when the network accepts bytes again. */
  drained(): void
  /** Called once, last. */
  closed(because: DisconnectReason, detail: string): void
}

/** Stands for "since the timer last fired", which saves reading the clock for every batch. */
const JUST_RECEIVED: MonotonicMs = Number.POSITIVE_INFINITY
function readFlag(input: InputBytes): boolean {
  const flag = input.u8()
  if (flag > 1) throw new MalformedBytesError(`a flag must be 0 or 1 (got ${flag})`)
  return flag === 1
}

/** How long `finish` waits for the peer to read. */
const LINGER_MS = 1_000
/**
 * How long a peer may take to answer a PROBE. Two rounds take less than a handshake, which waits for them.
 */
const PROBE_MS = 1_500
/** The slowest accepted speed of a batch, which adds to the time-out. */
const LEAST_BYTES_A_MS = 16

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

function failureOf(reason: CloseReason): string {
  return reason.kind === "failed" ? reason.error.message : ""
}
