import { describe, expect, test } from "vitest"
import {
  batchAround,
  batchOf,
  FakeConnection,
  frameDependencies,
  type TestDependencies,
} from "../../test/remote/golden-connection.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { NetworkError } from "../errors/network-error.js"
import type { InputBytes } from "../serialization/input-bytes.js"
import { FrameConnection, type FrameDependencies, type FrameHandler } from "./frame-connection.js"
import { ALIVE, BATCH_BYTES, ENVELOPE, GOODBYE, HELLO, MAX_HANDSHAKE_BYTES, PING, PROBE } from "./frames.js"

describe("a probe", () => {
  test("is answered at once", () => {
    const { connection } = talking()
    connection.handler.data(batchOf([PROBE]))
    expect(connection.takeFrames().map(({ kind }) => kind)).toEqual([ALIVE])
  })

  test("tells that the peer is there when it answers; several share one", () => {
    const { frames, connection } = talking()
    const told: boolean[] = []
    frames.probe((isAlive) => told.push(isAlive))
    frames.probe((isAlive) => told.push(isAlive))
    expect(connection.takeFrames().map(({ kind }) => kind)).toEqual([PROBE])
    expect(told).toEqual([])
    connection.handler.data(batchOf([ALIVE]))
    connection.handler.data(batchOf([ALIVE]))
    expect(told).toEqual([true, true])
    frames.probe((isAlive) => told.push(isAlive))
    expect(connection.takeFrames().map(({ kind }) => kind)).toEqual([PROBE])
  })

  test("tells that nobody is there after a second and a half, whatever else came", async () => {
    const { frames, connection, tools } = talking()
    const told: boolean[] = []
    frames.probe((isAlive) => told.push(isAlive))
    connection.handler.data(batchOf([PING]))
    await tools.clock.advance(1_499)
    expect(told).toEqual([])
    await tools.clock.advance(1)
    expect(told).toEqual([false])
    connection.handler.data(batchOf([ALIVE]))
    expect(told).toEqual([false])
  })

  test("tells that nobody is there when the connection ends, or had ended", () => {
    const { frames } = talking()
    const told: boolean[] = []
    frames.probe((isAlive) => told.push(isAlive))
    frames.close("ended")
    expect(told).toEqual([false])
    frames.probe((isAlive) => told.push(isAlive))
    expect(told).toEqual([false, false])
  })
})

describe("a probe that had no fair chance", () => {
  const probed = (frames: FrameConnection) => {
    const told: boolean[] = []
    frames.probe((isAlive) => told.push(isAlive))
    return told
  }

  test("because this process stood still gets one more round", async () => {
    const { frames, tools } = talking()
    const told = probed(frames)
    tools.clock.holdUp(2_251)
    await tools.clock.advance(0)
    expect(told).toEqual([])
    tools.clock.holdUp(3_000)
    await tools.clock.advance(0)
    expect(told).toEqual([false])
  })

  test("because this process stood still finds the answer that came meanwhile", async () => {
    const { frames, connection, tools } = talking()
    const told = probed(frames)
    tools.clock.holdUp(60_000)
    await tools.clock.advance(0)
    connection.handler.data(batchOf([ALIVE]))
    expect(told).toEqual([true])
    expect(tools.clock.pendingTimers).toBe(1)
  })

  test("because the network took nothing gets one more round", async () => {
    const { frames, connection, tools } = talking()
    connection.isWritable = false
    say(frames, 1)
    const told = probed(frames)
    await tools.clock.advance(1_500)
    expect(told).toEqual([])
    await tools.clock.advance(1_499)
    expect(told).toEqual([])
    await tools.clock.advance(1)
    expect(told).toEqual([false])
  })

  test("is not one whose timer is a little late", async () => {
    const { frames, tools } = talking()
    const told = probed(frames)
    tools.clock.holdUp(2_250)
    await tools.clock.advance(0)
    expect(told).toEqual([false])
  })
})

test("refuses to establish a closed connection", () => {
  const { frames, tools } = talking()
  frames.close("ended")
  expect(() => frames.established()).toThrow("cannot establish a closed connection")
  expect(tools.clock.pendingTimers).toBe(0)
})

describe("what is written", () => {
  test("in one turn leaves as one batch when the turn is over", () => {
    const { frames, connection, tools } = talking()
    for (const byte of [1, 2, 3]) {
      frames.writer.frame(ENVELOPE, Uint8Array.of(byte))
      frames.written()
    }
    expect(connection.writes).toEqual([])
    tools.scheduler.endTurn()
    expect(connection.writes.length).toBe(1)
    expect(connection.takeFrames().map(({ fields }) => fields[0])).toEqual([1, 2, 3])
    tools.scheduler.endTurn()
    expect(connection.writes).toEqual([])
  })

  test("leaves at once when it is much", () => {
    const { frames, connection } = talking()
    frames.writer.frame(ENVELOPE, new Uint8Array(BATCH_BYTES - 6))
    frames.written()
    expect(connection.writes).toEqual([])
    frames.writer.frame(ENVELOPE)
    frames.written()
    expect(connection.takeFrames().length).toBe(2)
  })

  test("waits while the network takes no more, and leaves first when it does again", () => {
    const { frames, connection, handler } = talking()
    connection.isWritable = false
    say(frames, 1)
    expect(frames.isBlocked).toBe(true)
    say(frames, 2)
    say(frames, 3)
    expect(said(connection)).toEqual([1])
    connection.isWritable = true
    connection.handler.drained()
    expect(said(connection)).toEqual([2, 3])
    expect([frames.isBlocked, handler.drains]).toEqual([false, 1])
  })

  test("is not more than the network takes: what waits is offered batch by batch, in order", () => {
    const { frames, connection, handler } = talking()
    connection.isWritable = false
    say(frames, 1)
    for (const byte of [2, 3]) {
      frames.writer.frame(ENVELOPE, new Uint8Array(BATCH_BYTES).fill(byte))
      frames.written()
    }
    say(frames, 4)
    expect(said(connection)).toEqual([1])
    connection.handler.drained()
    expect(said(connection)).toEqual([2])
    connection.handler.drained()
    expect(said(connection)).toEqual([3])
    expect([frames.isBlocked, handler.drains]).toEqual([true, 0])
    connection.isWritable = true
    connection.handler.drained()
    expect(said(connection)).toEqual([4])
    expect([frames.isBlocked, handler.drains]).toEqual([false, 1])
  })

  test("is bounded: a peer that does not read at all is given up", () => {
    const { frames, connection, handler } = talking({ backlogBytes: 3 * BATCH_BYTES })
    connection.isWritable = false
    say(frames, 1)
    for (let batches = 0; batches < 2; batches += 1) {
      frames.writer.frame(ENVELOPE, new Uint8Array(BATCH_BYTES))
      frames.written()
    }
    expect(handler.ends).toEqual([])
    frames.writer.frame(ENVELOPE, new Uint8Array(BATCH_BYTES))
    frames.written()
    expect(handler.ends).toEqual(["slow"])
    expect(connection.isDestroyed).toBe(true)
  })

  test("after the end goes nowhere", () => {
    const { frames, connection, tools } = talking()
    frames.writer.frame(ENVELOPE)
    frames.written()
    frames.close("replaced")
    tools.scheduler.endTurn()
    frames.flush()
    connection.handler.drained()
    expect(connection.writes).toEqual([])
  })
})

describe("reading that is held", () => {
  test("hands out nothing more, not even the rest of a batch, and goes on where it was", () => {
    const { frames, connection, handler } = talking()
    handler.onFrame = () => frames.pauseReading()
    const numbered = (...numbers: number[]) =>
      batchOf(...numbers.map((number) => [ENVELOPE, Uint8Array.of(number)] as const))
    const third = numbered(5, 6)
    connection.handler.data(Buffer.concat([numbered(1, 2), numbered(3, 4), third.subarray(0, 20)]))
    expect(connection.isPaused).toBe(true)
    // What was on its way when the reading was held.
    connection.handler.data(third.subarray(20))
    const heard: number[] = []
    for (let round = 0; round < 6; round += 1) {
      heard.push(handler.heard.length)
      frames.resumeReading()
    }
    expect(heard).toEqual([1, 2, 3, 4, 5, 6])
    expect(handler.heard.map((one) => Number(one.slice(-2)))).toEqual([1, 2, 3, 4, 5, 6])
    expect(connection.isPaused).toBe(false)
  })

  test("does not make the peer silent, nor slow; once it goes on, the peer has its time again", async () => {
    const { frames, connection, handler, tools } = talking()
    handler.onFrame = () => frames.pauseReading()
    const batch = batchOf([ENVELOPE], [ENVELOPE])
    connection.handler.data(Buffer.concat([batch, batch.subarray(0, 15)]))
    await tools.clock.advance(60_000)
    expect(handler.ends).toEqual([])
    // Its own pings leave all the while, so the peer does not give up either.
    expect(connection.takeFrames().length).toBeGreaterThan(20)
    handler.onFrame = () => {}
    frames.resumeReading()
    await tools.clock.advance(8_000)
    expect(handler.ends).toEqual([])
    await tools.clock.advance(8_000)
    expect(handler.ends).toEqual(["slow"])
  })

  test("hears the end of the peer after all that was said before it", () => {
    const { frames, connection, handler } = talking()
    handler.onFrame = () => frames.pauseReading()
    connection.handler.data(batchOf([ENVELOPE], [ENVELOPE]))
    connection.handler.ended()
    expect(handler.ends).toEqual([])
    frames.resumeReading()
    expect([handler.heard.length, handler.ends]).toEqual([2, []])
    frames.resumeReading()
    expect(handler.ends).toEqual(["ended"])
  })

  test("is over when the connection is: nothing more is handed out, and the end is seen", () => {
    const { frames, connection, handler } = talking()
    handler.onFrame = () => frames.pauseReading()
    connection.handler.data(batchOf([ENVELOPE], [ENVELOPE]))
    frames.finish("stopping")
    expect(connection.isPaused).toBe(false)
    frames.resumeReading()
    expect(handler.heard.length).toBe(1)
  })
})

describe("what comes", () => {
  test("is handed on frame by frame, with its fields", () => {
    const { connection, handler } = talking()
    connection.handler.data(batchOf([ENVELOPE, Uint8Array.of(1, 2)], [0x77], [PING], [ENVELOPE]))
    expect(handler.heard).toEqual(["16: 0102", "119: ", "16: "])
  })

  test("may come as bytes that are no Buffer", () => {
    const { connection, handler } = talking()
    const batch = batchOf([ENVELOPE, Uint8Array.of(1, 2)])
    const chunk = new Uint8Array(batch.length + 2)
    chunk.set(batch, 1)
    connection.handler.data(chunk.subarray(1, 1 + batch.length))
    expect(handler.heard).toEqual(["16: 0102"])
  })

  test("before the handshake is over may be no longer than a handshake", () => {
    const longest = batchAround(frame(MAX_HANDSHAKE_BYTES))
    const one = begun()
    one.connection.handler.data(longest)
    expect([one.handler.heard.length, one.handler.ends]).toEqual([1, []])
    const other = begun()
    other.connection.handler.data(batchAround(frame(MAX_HANDSHAKE_BYTES + 1)))
    expect(other.handler.heard).toEqual([])
    expect(other.handler.ends).toEqual(["malformed: it does not begin like a Troupe node"])
    const third = talking()
    third.connection.handler.data(batchAround(frame(MAX_HANDSHAKE_BYTES + 1)))
    expect([third.handler.heard.length, third.handler.ends]).toEqual([1, []])
  })

  test("that is no batch at all ends the connection at once", () => {
    const { connection, handler } = begun()
    connection.handler.data(Buffer.from("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"))
    expect(handler.ends.length).toBe(1)
    expect(connection.isDestroyed).toBe(true)
  })

  test("longer than allowed, or damaged, ends the connection", () => {
    const { connection, handler } = talking({ maxBodyBytes: 5_000 })
    connection.handler.data(batchAround(frame(5_001)))
    expect(handler.ends).toEqual(["too-long"])
    const damaged = batchOf([ENVELOPE])
    damaged[damaged.length - 1] = 0
    const other = talking()
    other.connection.handler.data(damaged)
    expect(other.handler.ends).toEqual(["corrupted"])
    expect(other.connection.isDestroyed).toBe(true)
  })

  test.each<[string, Buffer]>([
    ["a length of nothing", Buffer.from([0, 0, 0, 0])],
    ["more than the batch has", Buffer.from([3, 0, 0, 0, ENVELOPE, 1])],
    ["far more than the batch has", Buffer.from([0xff, 0xff, 0xff, 0xff, ENVELOPE, 1])],
    ["half of a length", Buffer.from([1, 0, 0])],
    ["a ping with something in it", Buffer.from([2, 0, 0, 0, PING, 1])],
    ["a probe with something in it", Buffer.from([2, 0, 0, 0, PROBE, 1])],
    ["an answer to a probe with something in it", Buffer.from([2, 0, 0, 0, ALIVE, 1])],
    ["a goodbye with nothing in it", Buffer.from([1, 0, 0, 0, GOODBYE])],
    ["a goodbye with more than a flag in it", Buffer.from([3, 0, 0, 0, GOODBYE, 1, 1])],
    ["a goodbye with another number in it", Buffer.from([2, 0, 0, 0, GOODBYE, 2])],
  ])("with %s in a frame is malformed", (_what, body) => {
    const { connection, handler } = talking()
    connection.handler.data(batchAround(Buffer.concat([frame(6), body])))
    expect(handler.heard.length).toBe(1)
    expect(handler.ends[0]).toMatch(/^malformed: /)
  })

  test("that its handler calls malformed ends the connection; nothing after it is heard", () => {
    const { connection, handler } = talking()
    handler.onFrame = () => {
      throw new MalformedBytesError("no such thing")
    }
    connection.handler.data(Buffer.concat([batchOf([ENVELOPE], [ENVELOPE]), batchOf([ENVELOPE])]))
    expect([handler.heard.length, handler.ends]).toEqual([1, ["malformed: no such thing"]])
    connection.handler.data(batchOf([ENVELOPE]))
    expect(handler.heard.length).toBe(1)
  })

  test("that its handler fails on ends the connection and not the node, and is logged", () => {
    const { connection, handler, tools } = talking()
    handler.onFrame = () => {
      throw new TypeError("a defect")
    }
    expect(() => connection.handler.data(batchOf([ENVELOPE]))).not.toThrow()
    expect(handler.ends).toEqual(["failed-on"])
    expect(tools.log.length).toBe(1)
  })

  test("is not read on when the handler closes over it", () => {
    const { frames, connection, handler } = talking()
    handler.onFrame = () => frames.close("replaced")
    connection.handler.data(Buffer.concat([batchOf([ENVELOPE], [ENVELOPE]), batchOf([ENVELOPE])]))
    expect([handler.heard.length, handler.ends]).toEqual([1, ["replaced"]])
  })

  test("is handed to the handler as it is before the handshake is over, pings and goodbyes too", () => {
    const { connection, handler } = begun()
    connection.handler.data(batchOf([PING], [GOODBYE], [HELLO]))
    expect([handler.heard, handler.ends]).toEqual([["32: ", "33: ", "1: "], []])
  })

  test.each([false, true])("and says goodbye ends the connection: the peer has left (%s)", (hasAnswered) => {
    const { frames, connection, handler } = talking()
    connection.handler.data(batchOf([ENVELOPE], [GOODBYE, Buffer.of(hasAnswered ? 1 : 0)], [ENVELOPE]))
    expect([handler.heard.length, handler.ends]).toEqual([1, ["left"]])
    expect(frames.hasAnsweredAll).toBe(hasAnswered)
    expect(connection.isDestroyed).toBe(true)
  })
})

describe("keep-alive", () => {
  test("sends a ping when nothing else was sent for an interval", async () => {
    const { frames, connection, tools } = talking()
    await pass(tools, connection, 2_000)
    expect(connection.takeFrames().map(({ kind }) => kind)).toEqual([PING])
    await pass(tools, connection, 1_000)
    say(frames, 1)
    connection.takeFrames()
    await pass(tools, connection, 1_000)
    expect(connection.takeFrames()).toEqual([])
    await pass(tools, connection, 2_000)
    expect(connection.takeFrames().map(({ kind }) => kind)).toEqual([PING])
  })

  test("does not ping into a network that takes no more", async () => {
    const { frames, connection, tools } = talking()
    connection.isWritable = false
    say(frames, 1)
    connection.takeFrames()
    await pass(tools, connection, 6_000)
    connection.isWritable = true
    connection.handler.drained()
    expect(connection.takeFrames()).toEqual([])
  })

  test("gives up a peer of which nothing came for the time-out, and not before", async () => {
    const { connection, handler, tools } = talking()
    await tools.clock.advance(3_000)
    connection.handler.data(batchOf([PING]))
    await tools.clock.advance(1_000 + 8_000)
    expect(handler.ends).toEqual([])
    await tools.clock.advance(2_000)
    expect(handler.ends).toEqual(["silent"])
    expect(connection.isDestroyed).toBe(true)
    expect(tools.clock.pendingTimers).toBe(0)
  })

  test("is content with a ping now and then", async () => {
    const { connection, handler, tools } = talking()
    for (let round = 0; round < 20; round += 1) await pass(tools, connection, 8_000)
    expect(handler.ends).toEqual([])
  })

  test("gives up a peer that takes too long over a batch: the time-out, and a millisecond for 16 bytes", async () => {
    const { connection, handler, tools } = talking()
    const batch = batchAround(frame(160_000 - 12))
    connection.handler.data(batch.subarray(0, 100))
    for (let at = 100; at < 1_900; at += 100) {
      await tools.clock.advance(1_000)
      connection.handler.data(batch.subarray(at, at + 100))
    }
    expect(handler.ends).toEqual([])
    await tools.clock.advance(2_000)
    expect(handler.ends).toEqual(["slow"])
  })

  test("does not mind a batch that is slow and comes in its time", async () => {
    const { connection, handler, tools } = talking()
    const batch = batchAround(frame(160_000 - 12))
    connection.handler.data(batch.subarray(0, 100))
    await tools.clock.advance(18_000)
    connection.handler.data(batch.subarray(100))
    await tools.clock.advance(8_000)
    expect([handler.heard.length, handler.ends]).toEqual([1, []])
  })

  test("does not mind a peer that sends without a pause, whose chunks never end where a batch does", async () => {
    const { connection, handler, tools } = talking()
    const batch = batchOf([ENVELOPE, new Uint8Array(100)])
    connection.handler.data(batch.subarray(0, 50))
    for (let second = 0; second < 60; second += 1) {
      await tools.clock.advance(1_000)
      connection.handler.data(Buffer.concat([batch.subarray(50), batch.subarray(0, 50)]))
    }
    expect([handler.heard.length, handler.ends]).toEqual([60, []])
  })

  test("blames nobody when it was this process that stood still", async () => {
    const { connection, handler, tools } = talking()
    connection.handler.data(batchOf([PING]).subarray(0, 5))
    tools.clock.holdUp(60_000)
    await tools.clock.advance(0)
    expect(handler.ends).toEqual([])
    connection.handler.data(batchOf([PING]).subarray(5))
    tools.clock.holdUp(60_000)
    await tools.clock.advance(0)
    expect(handler.ends).toEqual([])
    await tools.clock.advance(8_000)
    expect(handler.ends).toEqual([])
    await tools.clock.advance(2_000)
    expect(handler.ends).toEqual(["silent"])
  })

  test("gives a peer that was silent while this process stood still the whole time again", async () => {
    const { handler, tools } = talking()
    tools.clock.holdUp(60_000)
    await tools.clock.advance(8_000)
    expect(handler.ends).toEqual([])
    await tools.clock.advance(2_000)
    expect(handler.ends).toEqual(["silent"])
  })

  test("begins with the end of the handshake, which has a time of its own", async () => {
    const { frames, connection, handler, tools } = begun()
    await tools.clock.advance(4_999)
    expect([connection.writes, handler.ends]).toEqual([[], []])
    await tools.clock.advance(1)
    expect(handler.ends).toEqual(["handshake-timeout"])
    expect(connection.isDestroyed).toBe(true)
    expect(frames.isOpen).toBe(false)
  })

  test("forgets the handshake's time when it is over", async () => {
    const { connection, handler, tools } = begun()
    await tools.clock.advance(4_999)
    handler.frames.established()
    await pass(tools, connection, 8_000)
    expect(handler.ends).toEqual([])
  })
})

describe("the end", () => {
  test("is told once, whatever follows it", () => {
    const { frames, connection, handler } = talking()
    frames.close("replaced", "by a new one")
    frames.close("silent")
    frames.finish("stopping")
    connection.handler.ended()
    connection.handler.data(batchOf([ENVELOPE]))
    expect([handler.ends, handler.heard]).toEqual([["replaced: by a new one"], []])
  })

  test("leaves no timer behind", async () => {
    for (const start of [begun, talking]) {
      const { frames, tools } = start()
      frames.close("replaced")
      await frames.gone
      expect(tools.clock.pendingTimers).toBe(0)
    }
  })

  test("lets what was written be read, and takes no longer than a moment over it", async () => {
    const { frames, connection, handler, tools } = talking()
    frames.writer.frame(GOODBYE, Buffer.of(1))
    frames.finish("stopping")
    expect(connection.takeFrames().map(({ kind }) => kind)).toEqual([GOODBYE])
    expect([connection.isEnded, connection.isDestroyed, handler.ends]).toEqual([true, false, ["stopping"]])
    await tools.clock.advance(999)
    expect(connection.isDestroyed).toBe(false)
    await tools.clock.advance(1)
    expect(connection.isDestroyed).toBe(true)
    await frames.gone
  })

  test("is not waited for once the peer has ended as well", async () => {
    const { frames, connection, tools } = talking()
    frames.finish("stopping")
    connection.handler.ended()
    expect(connection.isDestroyed).toBe(true)
    await frames.gone
    expect(tools.clock.pendingTimers).toBe(0)
  })

  test("sends what waited for the network, in order, and what was said last", () => {
    const { frames, connection } = talking()
    connection.isWritable = false
    say(frames, 1)
    frames.writer.frame(ENVELOPE, new Uint8Array(BATCH_BYTES).fill(2))
    frames.written()
    say(frames, 3)
    frames.finish("stopping")
    expect(said(connection)).toEqual([1, 2, 3])
    expect(connection.isEnded).toBe(true)
  })

  test("says what the network said", () => {
    const ends = (reason: Parameters<FrameConnection["closed"]>[0]) => {
      const { connection, handler } = talking()
      connection.handler.closed(reason)
      return handler.ends
    }
    expect(ends({ kind: "ended" })).toEqual(["ended"])
    const error = new NetworkError("Reset", "the peer reset it")
    expect(ends({ kind: "failed", error })).toEqual([`unreachable: ${error.message}`])
    const { connection, handler } = talking()
    connection.handler.ended()
    expect([handler.ends, connection.isDestroyed]).toEqual([["ended"], true])
  })
})

test("names the other end as an authority is written", () => {
  expect(connected(new FakeConnection("10.0.0.1")).frames.remote).toBe("10.0.0.1:2")
  expect(connected(new FakeConnection("fe80::1")).frames.remote).toBe("[fe80::1]:2")
})

interface Talk {
  readonly frames: FrameConnection
  readonly connection: FakeConnection
  readonly handler: RecordingHandler
  readonly tools: TestDependencies
}

/** One whose handshake has begun. */
function begun(changed: Partial<FrameDependencies> = {}): Talk {
  return connected(new FakeConnection(), changed)
}

/** One whose handshake is over. */
function talking(changed: Partial<FrameDependencies> = {}): Talk {
  const talk = begun(changed)
  talk.frames.established()
  return talk
}

function connected(connection: FakeConnection, changed: Partial<FrameDependencies> = {}): Talk {
  const tools = frameDependencies(changed)
  const handler = new RecordingHandler()
  const frames = new FrameConnection(connection, tools, handler)
  handler.frames = frames
  frames.start()
  return { frames, connection, handler, tools }
}

class RecordingHandler implements FrameHandler {
  readonly heard: string[] = []
  readonly ends: string[] = []
  drains = 0
  onFrame: () => void = () => {}
  frames!: FrameConnection

  receive(kind: number, input: InputBytes): void {
    this.heard.push(`${kind}: ${input.raw(input.left).toString("hex")}`)
    this.onFrame()
  }

  drained(): void {
    this.drains += 1
  }

  closed(because: string, detail: string): void {
    this.ends.push(detail === "" ? because : `${because}: ${detail}`)
  }
}

/** One frame that takes so many bytes, its header included. */
function frame(bytes: number): Buffer {
  const made = Buffer.alloc(bytes)
  made.writeUInt32LE(bytes - 4, 0)
  made[4] = ENVELOPE
  return made
}

function say(frames: FrameConnection, byte: number): void {
  frames.writer.frame(ENVELOPE, Uint8Array.of(byte))
  frames.flush()
}

/** The first byte of each frame that was written. */
function said(connection: FakeConnection): (number | undefined)[] {
  return connection.takeFrames().map(({ fields }) => fields[0])
}

/** Time in which the peer is heard of once. */
async function pass(tools: TestDependencies, connection: FakeConnection, ms: number): Promise<void> {
  await tools.clock.advance(ms)
  connection.handler.data(batchOf([PING]))
}
