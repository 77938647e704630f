import type { ActorRef } from "../../src/index.js"

/** A number that depends on every bit of a value and on the order of its parts, and on no codec. */
export function fingerprint(value: unknown): number {
  const hash = new Hash()
  hash.value(value)
  return hash.sum
}

/** The next link of a chain: what came before it, and what it carries. */
export function link(previous: number, payload: unknown): number {
  const hash = new Hash()
  hash.word(previous)
  hash.value(payload)
  return hash.sum
}

const scratch = new DataView(new ArrayBuffer(8))

class Hash {
  #sum = 0x811c9dc5

  get sum(): number {
    return this.#sum >>> 0
  }

  word(word: number): void {
    const mixed = Math.imul(this.#sum ^ word, 0x9e3779b1)
    this.#sum = mixed ^ (mixed >>> 15)
  }

  value(value: unknown): void {
    switch (typeof value) {
      case "number":
        return this.#number(value)
      case "object":
        return value === null ? this.word(1) : this.#object(value)
      default:
        return this.#text(`${typeof value} ${String(value)}`)
    }
  }

  #number(value: number): void {
    scratch.setFloat64(0, value)
    this.word(2)
    this.word(scratch.getUint32(0))
    this.word(scratch.getUint32(4))
  }

  #text(text: string): void {
    this.word(text.length)
    for (let at = 0; at < text.length; at += 1) this.word(text.charCodeAt(at))
  }

  #object(value: object): void {
    if (Object.getPrototypeOf(value) === Object.prototype) {
      for (const key in value) {
        this.#text(key)
        this.value(value[key as never])
      }
      return this.word(3)
    }
    if (Array.isArray(value)) return this.#items(4, value)
    if (value instanceof Map) return this.#items(5, [...value.keys(), ...value.values()])
    if (value instanceof Set) return this.#items(6, [...value])
    if (ArrayBuffer.isView(value)) return this.#bytes(value)
    if (value instanceof Date) return this.#number(value.getTime())
    if (value instanceof Error) return this.#text(`${value.name} ${value.message}`)
    this.#text((value as ActorRef<never>).path.toString())
  }

  #items(kind: number, items: readonly unknown[]): void {
    this.word(kind)
    this.word(items.length)
    for (const item of items) this.value(item)
  }

  /** A word at a time, which is what makes large payloads affordable. */
  #bytes(view: ArrayBufferView): void {
    this.#text(view.constructor.name)
    this.word(view.byteLength)
    const words = new Uint32Array(Math.ceil(view.byteLength / 4))
    new Uint8Array(words.buffer).set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
    for (const word of words) this.word(word)
  }
}
