import type { WireType } from "../../src/index.js"
import { type Maker, markOf } from "./call-makers.js"

/** What is asked of an actor. */
export class Asked {
  /** Of all calls of a run. */
  readonly op: number
  /** `type/key` of the actor that it is for. */
  readonly id: string
  /** The life of a system, or the activation, that asks; and how many it has asked of this actor before. */
  readonly sender: string
  readonly seq: number
  readonly thinkMs: number
  readonly isOneWay: boolean
  /** The actors that wait for it. */
  readonly chain: readonly string[]
  /** If its maker does not wait for it, those who wait for the turns it was made in: that cannot be seen. */
  readonly via: readonly string[]
  /** The calls that they wait for: all of the chain but its last, who waits for this one. */
  readonly waits: readonly number[]
  /** Where it is to be passed on to. */
  readonly path: readonly string[]
  /** The activation that asks, if one does. */
  readonly from: Maker | undefined
  /** By which it is known among the bytes that leave, if an activation asks. */
  readonly mark: string | undefined

  constructor(fields: AskedFields) {
    this.op = fields.op
    this.id = fields.id
    this.sender = fields.sender
    this.seq = fields.seq
    this.thinkMs = fields.thinkMs
    this.isOneWay = fields.isOneWay
    this.chain = fields.chain
    this.via = fields.via ?? []
    this.waits = fields.waits
    this.path = fields.path
    this.from = fields.from
    this.mark = fields.from && markOf(fields.from)
  }
}

export type AskedFields = { readonly [Field in Exclude<keyof Asked, "mark" | "via">]: Asked[Field] } & {
  readonly via?: readonly string[] | undefined
}

/**
 * What it answers: which question this is the answer to, and who gives it. It is a class so that it takes the
 * way of the codec also within one process: that is where it is seen in the moment in which it leaves
 * (`tapped-codec.ts`).
 */
export class Answer {
  readonly op: number
  readonly id: string
  readonly generation: number

  constructor(op: number, id: string, generation: number) {
    this.op = op
    this.id = id
    this.generation = generation
  }
}

export const wireTypes: readonly WireType[] = [Asked, Answer]

/** What can be asked. `pass` asks the next of its path in turn. */
export type Method = "add" | "read" | "glance" | "pass"
