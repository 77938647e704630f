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
import type { Valve } from "./inbound-flow.js"

/**
 * A connection that speaks in frames, and that knows when its peer has fallen silent.
 *
 * What is written in one turn of the event loop leaves as one batch when the turn and its microtasks are
 * over. While the network takes no more, `isBlocked` says so and nothing is handed to it; whoever writes then
 * has the bytes on its own account.
 *
 * Whoever deals with the frames may hold the reading, also in the middle of a batch.
 *
 * Keep-alive runs on one slow timer: who has sent nothing since it last fired sends a ping; a peer of whom no
 * whole batch came for the time-out is given up, and so is one that takes too long over a batch that it
 * began. A timer that fires late shows that it was this process that stood still, and then nobody is blamed
 * until it fires again.
 */
export class FrameConnection implements ConnectionHandler, Valve {
  readonly writer: BatchWriter
  readonly remote: string
  /** Resolves when the network has let go of it. */
  readonly gone: Promise<void>
  #let: () => void = () => {}
  readonly #connection: Connection
  readonly #tools: FrameTools
  readonly #handler: FrameHandler
  readonly #reader: BatchReader
  readonly #input = new InputBytes(Buffer.alloc(0), 0, 0)
  #isEstablished = false
  #isClosed = false
  #isBlocked = false
  /** Batches that wait because the network takes no more. */
  #backlog: Buffer[] = []
  #backlogBytes = 0
  #flushScheduled = false
  #timer: Timer | undefined
  #wroteSince = false
  #heardAt: MonotonicMs
  #bodies = 0
  /** When the batch that is not whole yet began. */
  #begunAt: MonotonicMs | undefined
  #tickDueAt: MonotonicMs = Number.POSITIVE_INFINITY
  /** Those who wait to hear whether the peer is still there. */
  #probes: ((isAlive: boolean) => void)[] = []
  #probeTimer: Timer | undefined
  #isHeld = false
  /** Held in the middle of a body: the rest of it. */
  #rest: { readonly bytes: Buffer; readonly start: number; readonly end: number } | undefined
  /** The peer has ended, and what it had sent before that is not dealt with yet. */
  #hasEnded = false

  constructor(connection: Connection, tools: FrameTools, handler: FrameHandler) {
    this.#connection = connection
    this.#tools = tools
    this.#handler = handler
    this.writer = new BatchWriter(tools.digest)
    this.#reader = new BatchReader(tools.digest, MAX_HANDSHAKE_BYTES)
    const { host, port } = connection.remote
    this.remote = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
    this.gone = new Promise((resolve) => {
      this.#let = resolve
    })
    this.#heardAt = tools.clock.monotonicMs()
    this.#timer = tools.clock.setTimer(tools.handshakeMs, () => this.close("handshake-timeout"))
  }

  /** Called once the handler is ready for frames. */
  start(): void {
    this.#connection.attach(this)
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  get isBlocked(): boolean {
    return this.#isBlocked
  }

  /** The handshake is over: messages of full length may come, and keep-alive begins. */
  established(): void {
    if (this.#isClosed) throw new Error("a connection that has ended cannot be established")
    this.#isEstablished = true
    this.#reader.maxBodyBytes = this.#tools.maxBodyBytes
    this.#timer?.cancel()
    this.#heardAt = this.#tools.clock.monotonicMs()
    this.#setTimer()
  }

  /** Has the peer answer, and tells whether it did: it gets a moment for it. */
  probe(answered: (isAlive: boolean) => void): void {
    if (this.#isClosed) return answered(false)
    this.#probes.push(answered)
    if (this.#probes.length > 1) return
    this.writer.frame(PROBE)
    this.flush()
    this.#awaitAnswer(this.#isBlocked, 1)
  }

  /**
   * The peer is not to blame where the question left late, or where this process stood still and may not have
   * read the answer: then it gets one more round.
   */
  #awaitAnswer(isDelayed: boolean, moreRounds: number): void {
    const { clock } = this.#tools
    const dueAt = clock.monotonicMs() + PROBE_MS
    this.#probeTimer = clock.setTimer(PROBE_MS, () => {
      const stoodStill = clock.monotonicMs() - dueAt > PROBE_MS / 2
      if ((stoodStill || isDelayed) && moreRounds > 0) this.#awaitAnswer(false, moreRounds - 1)
      // Where reading is held, the answer may have come and not been read.
      else this.#probed(this.#isHeld)
    })
  }

  #probed(isAlive: boolean): void {
    this.#probeTimer?.cancel()
    for (const answered of this.#probes.splice(0)) answered(isAlive)
  }

  /** Ends a frame that the writer has open, and sees to it that it leaves. */
  closeFrame(frame: number): void {
    this.writer.close(frame)
    this.written()
  }

  /** Something was written: it leaves at the end of the turn, or now if it is much. */
  written(): void {
    if (this.writer.size >= BATCH_BYTES) this.flush()
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true
      this.#tools.scheduler.afterMicrotasks(this.#flushLater)
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
   * What has to be said however little the peer reads: failures, and who has died. It is not much, and it is
   * bounded.
   */
  #setAside(): void {
    if (this.writer.size < BATCH_BYTES) return
    const batch = this.writer.take()
    this.#backlog.push(batch)
    this.#backlogBytes += batch.length
    if (this.#backlogBytes > this.#tools.backlogBytes) this.close("slow")
  }

  /** Closes now, also one that was finishing. What was not sent is lost. */
  close(because: DisconnectReason, detail = ""): void {
    if (!this.#isClosed) this.#end(because, detail)
    this.#connection.destroy()
  }

  /** Closes once the peer has had the chance to read what was written; it gets no longer than a moment. */
  finish(because: DisconnectReason, detail = ""): void {
    if (this.#isClosed) return
    for (const batch of this.#backlog) this.#connection.write(batch)
    this.#isBlocked = false
    this.flush()
    this.#end(because, detail)
    this.#connection.end()
    this.#timer = this.#tools.clock.setTimer(LINGER_MS, () => this.#connection.destroy())
  }

  data(chunk: Uint8Array): void {
    if (this.#isClosed) return
    const before = this.#bodies
    this.#read(this.#reader.push(asBuffer(chunk), this.#body), before)
  }

  #read(problem: StreamProblem | undefined, before = this.#bodies): void {
    if (problem !== undefined && !this.#isEstablished) this.close("malformed", "it begins as no node does")
    else if (problem !== undefined) this.close(problem)
    else if (this.#reader.announced === 0) this.#begunAt = undefined
    else if (this.#bodies !== before) this.#begunAt = this.#tools.clock.monotonicMs()
    else this.#begunAt ??= this.#tools.clock.monotonicMs()
  }

  /**
   * Hands out no frame after the one that is being dealt with, and reads no more; the peer is held back in
   * turn.
   */
  hold(): void {
    if (this.#isHeld || this.#isClosed) return
    this.#isHeld = true
    this.#connection.pause()
  }

  goOn(): void {
    if (!this.#isHeld || this.#isClosed) return
    this.#isHeld = false
    const rest = this.#rest
    this.#rest = undefined
    if (rest !== undefined && !this.#frames(rest.bytes, rest.start, rest.end)) return
    this.#read(this.#reader.goOn(this.#body))
    if (this.#isHeld || this.#isClosed) return
    if (this.#hasEnded) this.close("ended")
    else this.#connection.resume()
  }

  broke(error: unknown): void {
    this.#tools.logger.log("error", "a frame could not be dealt with", { remote: this.remote, error })
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
    this.#let()
    if (this.#isClosed) return
    this.#end(reason.kind === "failed" ? "unreachable" : "ended", failureOf(reason))
  }

  readonly #body = (bytes: Buffer, start: number, end: number): boolean => {
    this.#heardAt = HEARD
    this.#bodies += 1
    return this.#frames(bytes, start, end)
  }

  /** Whether to go on with the next body. */
  #frames(bytes: Buffer, start: number, end: number): boolean {
    const input = this.#input
    let at = start
    try {
      while (at < end && !this.#isClosed) {
        input.reset(bytes, at, end)
        const length = input.u32()
        const next = input.at + length
        if (length === 0 || next > end) throw new MalformedBytesError("a frame is longer than its batch")
        input.end = next
        const kind = input.u8()
        if (kind < PING || kind > ALIVE || !this.#isEstablished) this.#handler.frame(kind, input)
        else if (input.left > 0) throw new MalformedBytesError("a frame has more in it than it should")
        else if (kind !== PING) this.#own(kind)
        at = next
        if (this.#isHeld) break
      }
    } catch (error) {
      if (error instanceof MalformedBytesError) this.close("malformed", error.message)
      // A defect of this node, which is not to take it down.
      else this.broke(error)
    }
    if (this.#isHeld && at < end) this.#rest = { bytes, start: at, end }
    return !this.#isClosed && !this.#isHeld
  }

  #own(kind: number): void {
    if (kind === GOODBYE) this.close("left")
    else if (kind === ALIVE) this.#probed(true)
    else {
      this.writer.frame(ALIVE)
      this.flush()
    }
  }

  #end(because: DisconnectReason, detail: string): void {
    this.#isClosed = true
    this.#backlog = []
    this.#rest = undefined
    // Or the peer's end would never be seen.
    if (this.#isHeld) this.#connection.resume()
    this.#timer?.cancel()
    this.#handler.closed(because, detail)
    this.#probed(false)
  }

  #setTimer(): void {
    const { clock, keepAlive } = this.#tools
    this.#tickDueAt = clock.monotonicMs() + keepAlive.intervalMs
    this.#timer = clock.setTimer(keepAlive.intervalMs, () => this.#tick())
  }

  #tick(): void {
    const { clock, keepAlive } = this.#tools
    const now = clock.monotonicMs()
    // What is not read cannot be heard: a peer that is held back is not silent.
    const stoodStill = now - this.#tickDueAt > keepAlive.intervalMs || this.#isHeld
    if (this.#heardAt === HEARD || stoodStill) this.#heardAt = now
    if (stoodStill && this.#begunAt !== undefined) this.#begunAt = now
    if (now - this.#heardAt >= keepAlive.timeoutMs && this.#begunAt === undefined) return this.close("silent")
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

export interface FrameTools {
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly digest: Digest
  readonly logger: Pick<Logger, "log">
  readonly keepAlive: { readonly intervalMs: number; readonly timeoutMs: number }
  readonly handshakeMs: number
  /** The longest body of a batch, once the handshake is over. */
  readonly maxBodyBytes: number
  /** How much may be set aside for a peer that does not read. */
  readonly backlogBytes: number
}

export interface FrameHandler {
  /** Throws a `MalformedBytesError` for what cannot be; the connection is then closed. */
  frame(kind: number, input: InputBytes): void
  /** The network takes bytes again. */
  drained(): void
  /** The last call, made once. */
  closed(because: DisconnectReason, detail: string): void
}

/** In the place of a time: since the timer last fired. It saves reading the clock for every batch. */
const HEARD: MonotonicMs = Number.POSITIVE_INFINITY
/** How long a peer may take to read the last words. */
const LINGER_MS = 1_000
/**
 * How long a peer may take to say that it is there. Two rounds of it are less than a handshake, which waits
 * for them.
 */
const PROBE_MS = 1_500
/** A batch may take as long as at this speed, on top of the time-out. */
const LEAST_BYTES_A_MS = 16

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

function failureOf(reason: CloseReason): string {
  return reason.kind === "failed" ? reason.error.message : ""
}
