import crypto, { webcrypto } from "node:crypto"
import type { AmbientWorld } from "./ambient-world.js"
import { currentWorld } from "./current-world.js"
import { unlessAsynchronous } from "./forbidden.js"
import { imitating, type Patches } from "./patches.js"
import { uuidOfTheWorld, uuidV7OfTheWorld } from "./uuids.js"

/**
 * Replaces `Math.random` and the synchronous random functions of `node:crypto` and Web Crypto.
 *
 * In a world, Node's own function is called too, and its result discarded, so that Node validates the
 * arguments.
 */
export function replaceChance(patches: Patches): void {
  patches.replace<typeof Math.random>(Math, "random", (real) =>
    imitating(real, () => {
      const world = currentWorld()
      return world === undefined ? real() : fraction(world)
    }),
  )
  for (const name of ["randomBytes", "pseudoRandomBytes", "prng", "rng"]) {
    patches.replace<Bytes>(crypto, name, (real) => unlessAsynchronous(drawn(real, fill), `crypto.${name}`))
  }
  patches.replace<Int>(crypto, "randomInt", (real) =>
    unlessAsynchronous(drawn(real, int), "crypto.randomInt"),
  )
  patches.replace(crypto, "randomFillSync", (real: Fill) => drawn(real, fill))
  patches.replace(crypto, "randomUUID", (real: Uuid) => drawn(real, uuidOfTheWorld))
  patches.replace(crypto, "randomUUIDv7", (real: Uuid) => drawn(real, uuidV7OfTheWorld))
  const web = Object.getPrototypeOf(webcrypto)
  patches.replace(web, "getRandomValues", (real: Fill) => drawn(real, fill))
  patches.replace(web, "randomUUID", (real: Uuid) => drawn(real, uuidOfTheWorld))
}

type Bytes = (length: number, done?: unknown) => Uint8Array
type Fill = (target: Target, offset?: number, size?: number) => Target
type Target = ArrayBuffer | NodeJS.TypedArray | DataView
type Int = (min: number, max?: unknown, done?: unknown) => number
type Uuid = (options?: unknown) => string

/** Returns the value that was drawn in place of Node's result, which may be a buffer to fill and return. */
type Draw<A extends unknown[], R> = (world: AmbientWorld, answer: R, args: A) => R

function drawn<A extends unknown[], R>(real: (...args: A) => R, draw: Draw<A, R>): (...args: A) => R {
  return imitating(real, function (this: unknown, ...args: A) {
    const world = currentWorld()
    const answer = Reflect.apply(real, this, args)
    return world === undefined ? answer : draw(world, answer, args)
  })
}

/** Draws 53 bits, as many as a number between 0 and 1 holds. */
function fraction(world: AmbientWorld): number {
  const high = world.randomUint32() >>> 5
  const low = world.randomUint32() >>> 6
  return (high * 2 ** 26 + low) / 2 ** 53
}

function fill<T extends Target>(world: AmbientWorld, target: T, [, offset = 0, size]: unknown[]): T {
  const unit = "BYTES_PER_ELEMENT" in target ? target.BYTES_PER_ELEMENT : 1
  const from = (typeof offset === "number" ? offset : 0) * unit
  const length = typeof size === "number" ? size * unit : target.byteLength - from
  const bytes = ArrayBuffer.isView(target)
    ? new Uint8Array(target.buffer, target.byteOffset + from, length)
    : new Uint8Array(target, from, length)
  bytes.set(world.randomBytes(length))
  return target
}

/** Draws 48 bits until they fall into the range that maps evenly to the requested one. */
function int(world: AmbientWorld, _answer: number, [first, second]: unknown[]): number {
  const [min, max] = typeof second === "number" ? [Number(first), second] : [0, Number(first)]
  const range = max - min
  const fair = 2 ** 48 - (2 ** 48 % range)
  while (true) {
    const bits = (world.randomUint32() % 2 ** 16) * 2 ** 32 + world.randomUint32()
    if (bits < fair) return min + (bits % range)
  }
}
