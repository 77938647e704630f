import type { Logger } from "../../src/ports/logger.js"
import type { Connection, ConnectionHandler, Endpoint } from "../../src/ports/network.js"
import type { Scheduler } from "../../src/ports/scheduler.js"
import type { FrameDependencies } from "../../src/remote/frame-connection.js"
import { BATCH_HEADER_BYTES } from "../../src/remote/frames.js"
import { nodeDigest } from "../../src/runtime/node-digest.js"
import { ManualClock } from "../fake/manual-clock.js"

/** A connection whose peer is the test. */
export class FakeConnection implements Connection {
  readonly local: Endpoint = { host: "127.0.0.1", port: 1 }
  readonly remote: Endpoint
  readonly bufferedBytes = 0
  /** The result of `write`: whether the network accepts more. */
  isWritable = true
  readonly writes: Buffer[] = []
  isPaused = false
  isEnded = false
  isDestroyed = false
  #handler: ConnectionHandler | undefined

  constructor(host = "127.0.0.1") {
    this.remote = { host, port: 2 }
  }

  attach(handler: ConnectionHandler): void {
    this.#handler = handler
  }

  write(bytes: Uint8Array): boolean {
    this.writes.push(Buffer.from(bytes))
    return this.isWritable
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  end(): void {
    this.isEnded = true
  }

  destroy(): void {
    if (this.isDestroyed) return
    this.isDestroyed = true
    this.#handler?.closed({ kind: "aborted" })
  }

  /** The attached handler. */
  get handler(): ConnectionHandler {
    if (this.#handler === undefined) throw new Error("no handler is attached")
    return this.#handler
  }

  /** Takes all frames that were written since the last call. */
  takeFrames(): Frame[] {
    return this.writes.splice(0).flatMap((batch) => framesIn(batch.subarray(BATCH_HEADER_BYTES)))
  }
}

export interface Frame {
  readonly kind: number
  readonly fields: Buffer
}

/** Parses frames by the wire format, independently of the code under test. */
export function framesIn(body: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < body.length; ) {
    const end = at + 4 + body.readUInt32LE(at)
    frames.push({ kind: body.readUInt8(at + 4), fields: body.subarray(at + 5, end) })
    at = end
  }
  return frames
}

/** Makes a batch of these frames by the wire format, independently of the code under test. */
export function batchOf(...frames: readonly (readonly [kind: number, fields?: Uint8Array])[]): Buffer {
  return batchAround(Buffer.concat(frames.map(([kind, fields]) => frameOf(kind, fields))))
}

export function batchAround(body: Buffer): Buffer {
  const crc32 = nodeDigest.crc32(body, 0, body.length)
  const check = ((BigInt(body.length) * 0x85eb_ca6bn) ^ BigInt(crc32)) * 0xc2b2_ae35n
  const header = Buffer.alloc(12)
  header.writeUInt32LE(body.length, 0)
  header.writeUInt32LE(crc32, 4)
  header.writeUInt32LE(Number(BigInt.asUintN(32, check)), 8)
  return Buffer.concat([header, body])
}

function frameOf(kind: number, fields: Uint8Array = new Uint8Array()): Buffer {
  const header = Buffer.alloc(5)
  header.writeUInt32LE(fields.length + 1, 0)
  header.writeUInt8(kind, 4)
  return Buffer.concat([header, fields])
}

/** Collects deferred work until the test ends the turn. */
export class ManualScheduler implements Scheduler {
  readonly #tasks: (() => void)[] = []

  microtask(task: () => void): void {
    this.#tasks.push(task)
  }

  afterMicrotasks(task: () => void): void {
    this.#tasks.push(task)
  }

  yield(task: () => void): void {
    this.#tasks.push(task)
  }

  endTurn(): void {
    for (const task of this.#tasks.splice(0)) task()
  }
}

export interface TestDependencies extends FrameDependencies {
  readonly clock: ManualClock
  readonly scheduler: ManualScheduler
  readonly logger: Logger
  /** `level message` of each line. */
  readonly log: readonly string[]
}

export function frameDependencies(changed: Partial<FrameDependencies> = {}): TestDependencies {
  const log: string[] = []
  const logger: Logger = {
    enabled: () => true,
    log: (level, message) => log.push(`${level} ${message}`),
    with: () => logger,
  }
  return {
    digest: nodeDigest,
    keepAlive: { intervalMs: 2_000, timeoutMs: 10_000 },
    handshakeMs: 5_000,
    maxBodyBytes: 1_000_000,
    backlogBytes: 200_000,
    ...changed,
    logger,
    log,
    clock: new ManualClock(),
    scheduler: new ManualScheduler(),
  }
}
