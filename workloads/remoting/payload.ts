import type { ActorRef } from "../../src/index.js"
import type { SeededRandom } from "../../src/sim/index.js"

/** Something to send, of any kind that may be sent. `refs` are what refs in it are taken from. */
export function drawPayload(random: SeededRandom, refs: readonly ActorRef<never>[], depth = 0): unknown {
  const kinds = depth < 2 ? 16 : 11
  switch (random.below(kinds)) {
    case 0:
      return random.pick([undefined, null, true, false, "", 0, -0, Number.NaN, Number.NEGATIVE_INFINITY])
    case 1:
      return random.uint32() - 2 ** 31
    case 2:
      return random.between(-1e9, 1e9)
    case 3:
      return (BigInt(random.uint32()) << 70n) - BigInt(random.uint32())
    case 4:
      return drawText(random, random.below(random.pick([4, 40, 400])))
    case 5:
      return new Date(random.uint32() * 1_000)
    case 6:
      return drawBytes(random, random.below(300))
    case 7:
      return Float64Array.from({ length: random.below(20) }, () => random.between(-1, 1))
    case 8:
      return new Int16Array(random.below(20)).fill(random.below(65_536) - 32_768)
    case 9:
      return refs.length === 0 ? "nobody" : random.pick(refs)
    case 10:
      return new RangeError(drawText(random, 20))
    case 11:
      return new Map(drawItems(random, refs, depth).map((item, index) => [`key ${9 - index}`, item]))
    case 12:
      return new Set(drawItems(random, refs, depth))
    case 13:
      return drawItems(random, refs, depth)
    default:
      return Object.fromEntries(drawItems(random, refs, depth).map((item, index) => [`field${index}`, item]))
  }
}

/** Tens of thousands of bytes: more than the network takes in one piece, and than a batch waits for. */
export function drawLargePayload(random: SeededRandom): unknown {
  const length = random.below(random.pick([20_000, 50_000, 90_000]))
  return random.chance(0.8) ? drawBytes(random, length) : drawText(random, length)
}

function drawItems(random: SeededRandom, refs: readonly ActorRef<never>[], depth: number): unknown[] {
  return Array.from({ length: random.below(5) }, () => drawPayload(random, refs, depth + 1))
}

/** A part of a larger buffer, as views often are. Few numbers are drawn for many bytes. */
function drawBytes(random: SeededRandom, length: number): Uint8Array {
  const offset = random.below(9)
  const start = random.uint32()
  const bytes = new Uint8Array(offset + length + 5)
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Math.imul(start + at, 0x9e3779b1) >>> 24
  return bytes.subarray(offset, offset + length)
}

function drawText(random: SeededRandom, length: number): string {
  return random.pick(["a", "ß", "語", "🎭", "plain ", "\u0000"]).repeat(length).slice(0, length)
}
