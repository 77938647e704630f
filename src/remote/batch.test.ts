import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { batchAround, batchOf, framesIn } from "../../test/remote/golden-connection.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { nodeDigest } from "../runtime/node-digest.js"
import { BatchReader, type StreamProblem } from "./batch-reader.js"
import { BatchWriter } from "./batch-writer.js"
import { BATCH_HEADER_BYTES } from "./frames.js"

const NO_LIMIT = 10_000_000

const frames = fc.array(
  fc.tuple(
    fc.nat(255),
    fc.oneof(fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ minLength: 1_000, maxLength: 5_000 })),
  ),
  { minLength: 1, maxLength: 6 },
)

describe("batches", () => {
  test("come out as they went in, wherever the stream is cut", () => {
    const cuts = fc.infiniteStream(
      fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 9_000 })),
    )
    fc.assert(
      fc.property(fc.array(frames, { minLength: 1, maxLength: 5 }), cuts, (batches, cuts) => {
        const writer = new BatchWriter(nodeDigest)
        const stream = Buffer.concat(batches.map((batch) => Buffer.from(written(writer, batch))))
        const { bodies, problem } = readIn(chunksOf(stream, cuts))
        expect(problem).toBeUndefined()
        expect(bodies.map(told)).toEqual(batches.map(toldOf))
      }),
    )
  })

  test("come out as they went in, byte by byte", () => {
    fc.assert(
      fc.property(frames, frames, (first, second) => {
        const writer = new BatchWriter(nodeDigest)
        const stream = Buffer.concat([first, second].map((batch) => Buffer.from(written(writer, batch))))
        const { bodies } = readIn([...stream].map((byte) => Buffer.of(byte)))
        expect(bodies.map(told)).toEqual([first, second].map(toldOf))
      }),
      { numRuns: 20 },
    )
  })

  test("are not touched again once they were taken, however many follow", () => {
    const writer = new BatchWriter(nodeDigest)
    const taken: { batch: Buffer; copy: Buffer }[] = []
    for (let round = 0; round < 200; round += 1) {
      const batch = written(writer, [[round, new Uint8Array(round * 37).fill(round)]])
      taken.push({ batch, copy: Buffer.from(batch) })
    }
    for (const { batch, copy } of taken) expect(batch.equals(copy)).toBe(true)
  })

  test("grow over the end of their buffer with what was written before", () => {
    for (const size of [1_000, 1_100, 128 * 1024, 128 * 1024 - 30, 300 * 1024]) {
      const writer = new BatchWriter(nodeDigest)
      for (let round = 0; round < 3; round += 1) {
        const batch: Part[] = [
          [1, Uint8Array.of(1, 2, 3)],
          [2, new Uint8Array(size).fill(round)],
          [3, Uint8Array.of(4)],
        ]
        const taken = written(writer, batch)
        expect(taken.equals(batchOf(...batch))).toBe(true)
      }
    }
  })
})

describe("a writer", () => {
  test("takes a frame back without a trace", () => {
    const writer = new BatchWriter(nodeDigest)
    writer.frame(1, Uint8Array.of(9))
    const before = writer.size
    const frame = writer.open(2)
    writer.raw(new Uint8Array(200_000))
    expect(writer.hasOpenFrame).toBe(true)
    writer.takeBack(frame)
    expect([writer.size, writer.hasOpenFrame]).toEqual([before, false])
    writer.frame(3)
    expect(writer.take().equals(batchOf([1, Uint8Array.of(9)], [3]))).toBe(true)
  })

  test("has nothing in it after a take, and after all was taken back", () => {
    const writer = new BatchWriter(nodeDigest)
    expect(writer.size).toBe(0)
    writer.frame(1)
    expect(writer.size).toBe(5)
    writer.take()
    expect(writer.size).toBe(0)
    writer.takeBack(writer.open(1))
    expect(writer.size).toBe(0)
  })

  test("refuses a message beyond the limit, to the byte, also where its buffer moves on", () => {
    for (const before of [0, 500, 128 * 1024 - 50, 200_000]) {
      const writer = new BatchWriter(nodeDigest)
      writer.frame(1, new Uint8Array(before))
      const frame = writer.open(2)
      writer.maxBytes = 100
      writer.limitAt = writer.at + 100
      writer.raw(new Uint8Array(100))
      expect(() => writer.u8(1)).toThrow(InvalidMessageError)
      expect(() => writer.u8(1)).toThrow("message is larger than maxMessageBytes (100 bytes)")
      writer.takeBack(frame)
      writer.frame(3, new Uint8Array(101))
      expect(framesIn(writer.take().subarray(BATCH_HEADER_BYTES)).map(({ fields }) => fields.length)).toEqual(
        [before, 101],
      )
    }
  })

  test("keeps to the limit of a message in the middle of which its buffer moves on", () => {
    let moves = 0
    for (let before = 7_000; before < 8_300; before += 13) {
      const writer = new BatchWriter(nodeDigest)
      writer.frame(1, new Uint8Array(50))
      writer.take()
      writer.frame(1, new Uint8Array(before))
      const frame = writer.open(2)
      const { bytes } = writer
      writer.limitAt = writer.at + 100
      writer.raw(new Uint8Array(60))
      writer.raw(new Uint8Array(40))
      expect(() => writer.u8(1)).toThrow(InvalidMessageError)
      if (writer.bytes !== bytes) moves += 1
      writer.close(frame)
      expect(framesIn(writer.take().subarray(BATCH_HEADER_BYTES))[1]?.fields.length).toBe(100)
    }
    expect(moves).toBeGreaterThan(2)
  })

  test("lifts the limit when the frame is closed", () => {
    const writer = new BatchWriter(nodeDigest)
    const frame = writer.open(2)
    writer.limitAt = writer.at + 1
    writer.u8(1)
    writer.close(frame)
    writer.frame(3, new Uint8Array(1_000))
    expect(writer.size).toBe(6 + 1_005)
  })

  test("has one frame open at a time, so that what is sent from inside of a message does not land in it", () => {
    const writer = new BatchWriter(nodeDigest)
    const frame = writer.open(1)
    writer.u8(7)
    expect(() => writer.open(2)).toThrow(InvalidMessageError)
    writer.u8(8)
    writer.close(frame)
    expect(writer.take().equals(batchOf([1, Uint8Array.of(7, 8)]))).toBe(true)
  })
})

describe("a reader", () => {
  const batch = batchOf([1, Buffer.from("hello")])

  test("refuses a body that is too long, by its header alone, and takes one that is just not", () => {
    const body = batch.length - BATCH_HEADER_BYTES
    for (const cut of [BATCH_HEADER_BYTES, BATCH_HEADER_BYTES + 1, batch.length]) {
      expect(readIn([batch.subarray(0, cut)], body - 1).problem).toBe("too-long")
      expect(readIn([batch.subarray(0, 3), batch.subarray(3, cut)], body - 1).problem).toBe("too-long")
    }
    expect(readIn([batch], body)).toMatchObject({
      problem: undefined,
      bodies: [batch.subarray(BATCH_HEADER_BYTES)],
    })
  })

  test("may be told to take longer ones while it reads", () => {
    const reader = new BatchReader(nodeDigest, 20)
    const long = batchOf([2, new Uint8Array(1_000)])
    const taken: number[] = []
    const problem = reader.push(Buffer.concat([batch, long]), (_bytes, start, end) => {
      reader.maxBodyBytes = 2_000
      return taken.push(end - start) > 0
    })
    expect([problem, taken]).toEqual([
      undefined,
      [batch.length - BATCH_HEADER_BYTES, long.length - BATCH_HEADER_BYTES],
    ])
  })

  test("finds every bit that was changed on the way, in one piece and in two", () => {
    for (let bit = 0; bit < batch.length * 8; bit += 1) {
      const changed = Buffer.from(batch)
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
      for (const chunks of [[changed], [changed.subarray(0, 6), changed.subarray(6)]]) {
        const { bodies, problem } = readIn(chunks, 100)
        expect([bodies, problem]).toEqual([[], "corrupted"])
      }
    }
  })

  test("hands out what came before the damage, and nothing after it", () => {
    const damaged = Buffer.from(batch)
    damaged[damaged.length - 1] = 0
    const { bodies, problem } = readIn([Buffer.concat([batch, damaged, batch])])
    expect([bodies.length, problem]).toEqual([1, "corrupted"])
  })

  test("takes an empty body for what it is", () => {
    const { bodies, problem } = readIn([batchAround(Buffer.alloc(0)), batch])
    expect([problem, bodies.map((body) => body.length)]).toEqual([undefined, [0, 10]])
  })

  test("stops when it is told to, in one chunk and with one that was held", () => {
    for (const chunks of [
      [Buffer.concat([batch, batch])],
      [batch.subarray(0, 9), Buffer.concat([batch.subarray(9), batch])],
    ]) {
      const reader = new BatchReader(nodeDigest, NO_LIMIT)
      let taken = 0
      for (const chunk of chunks) {
        expect(reader.push(chunk, () => ++taken > 1)).toBeUndefined()
      }
      expect(taken).toBe(1)
    }
  })

  test("says how long the batch will be that has begun", () => {
    const reader = new BatchReader(nodeDigest, NO_LIMIT)
    const announced: number[] = [reader.announced]
    for (const byte of batch) {
      reader.push(Buffer.of(byte), () => true)
      announced.push(reader.announced)
    }
    const whole = batch.length
    const header = BATCH_HEADER_BYTES
    expect(announced).toEqual([0, ...Array(header - 1).fill(header), ...Array(whole - header).fill(whole), 0])
  })

  test("holds no more than twice what has come, whatever was announced", () => {
    const header = batchAround(Buffer.alloc(1_000_000)).subarray(0, BATCH_HEADER_BYTES)
    for (const first of [header, Buffer.concat([header, Buffer.alloc(100)])]) {
      const allocated = allocations(() => {
        const reader = new BatchReader(nodeDigest, NO_LIMIT)
        reader.push(first, () => true)
        for (let more = 0; more < 50; more += 1) reader.push(Buffer.alloc(10), () => true)
      })
      const came = first.length + 500
      expect(Math.max(...allocated)).toBeLessThanOrEqual(2 * came)
      // The buffer doubles: it is not made anew for every chunk.
      expect(allocated.length).toBeLessThan(12)
    }
  })

  test("copies nothing of a batch that lies within its chunk", () => {
    const reader = new BatchReader(nodeDigest, NO_LIMIT)
    const chunk = Buffer.concat([batch, batch])
    expect(allocations(() => reader.push(chunk, (bytes) => bytes === chunk))).toEqual([])
  })
})

type Part = readonly [kind: number, fields: Uint8Array]

/** The frames of a body, in a form that is quick to compare. */
function told(body: Buffer): string {
  return framesIn(body)
    .map(({ kind, fields }) => `${kind} ${fields.toString("base64")}`)
    .join()
}

function toldOf(batch: readonly Part[]): string {
  return batch.map(([kind, fields]) => `${kind} ${Buffer.from(fields).toString("base64")}`).join()
}

function written(writer: BatchWriter, batch: readonly Part[]): Buffer {
  for (const [kind, fields] of batch) writer.frame(kind, fields)
  return writer.take()
}

/** What a reader makes of the chunks, until it finds a problem. */
function readIn(
  chunks: readonly Buffer[],
  maxBodyBytes = NO_LIMIT,
): { bodies: Buffer[]; problem: StreamProblem | undefined } {
  const reader = new BatchReader(nodeDigest, maxBodyBytes)
  const bodies: Buffer[] = []
  let problem: StreamProblem | undefined
  for (const chunk of chunks) {
    problem ??= reader.push(chunk, (bytes, start, end) => {
      bodies.push(Buffer.from(bytes.subarray(start, end)))
      return true
    })
  }
  return { bodies, problem }
}

function chunksOf(stream: Buffer, sizes: Iterator<number>): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < stream.length; ) {
    const size: number = sizes.next().value
    chunks.push(Buffer.from(stream.subarray(at, at + size)))
    at += size
  }
  return chunks
}

/** The sizes of the buffers that the work asks for. */
function allocations(work: () => void): number[] {
  const sizes: number[] = []
  const real = Buffer.allocUnsafeSlow
  Buffer.allocUnsafeSlow = (size) => {
    sizes.push(size)
    return real(size)
  }
  try {
    work()
  } finally {
    Buffer.allocUnsafeSlow = real
  }
  return sizes
}
