import type { Revision } from "../ports/store.js"

/**
 * The name of one intent: all attempts at one call have the same operation, and the actor applies it once.
 *
 * The runtime numbers the calls of a process. Each attempt says which numbers of calls to the same actor are
 * still open, that is, may be attempted again, so that the actor remembers the answers to those only. A call
 * may also be named: by its caller (`withOptions`), or by the runtime after the operation of the turn that
 * makes it. The actor remembers a name for as long as its method says. A message of `eventually` has the
 * number that its sender gave it; the actor remembers the last one of each sender.
 */
export type Operation = NumberedOperation | NamedOperation | SentOperation

export interface NumberedOperation {
  readonly kind: "numbered"
  /** The process that makes the call. */
  readonly caller: string
  readonly number: number
  /** Whether an earlier attempt may have been made, or may yet arrive. */
  readonly isRepeat: boolean
  readonly open: OpenNumbers
}

/** Of the numbers up to `upTo`, all are closed but those in `ranges`: pairs of first and last, ascending. */
export interface OpenNumbers {
  readonly upTo: number
  readonly ranges: readonly number[]
}

export interface NamedOperation {
  readonly kind: "named"
  readonly name: string
  readonly isRepeat: boolean
}

export interface SentOperation {
  readonly kind: "sent"
  /** The name of the actor that sends the message. */
  readonly sender: string
  /**
   * The generation under which the numbers of the sender began, 0 if an earlier version began them. It is
   * compared before the number: an actor that was destroyed may begin again.
   */
  readonly birth: Revision
  /** Higher than that of every message of before from this sender with this birth. */
  readonly number: number
  readonly isRepeat: boolean
}

/** The text by which users know an operation: a call with it is another attempt. */
export function operationText(operation: Operation): string {
  if (operation.kind === "named") return operation.name
  if (operation.kind === "numbered") return `~${operation.caller}.${operation.number}`
  const { sender, birth, number } = operation
  return birth === 0 ? `~${sender}.${number}` : `~${sender}.${birth}.${number}`
}

/** The operation that a text stands for. It is taken for a repeat, and closes nothing. */
export function operationOf(text: string): Operation {
  const [, caller, number] = NUMBERED.exec(text) ?? []
  if (caller === undefined) return { kind: "named", name: text, isRepeat: true }
  return { kind: "numbered", caller, number: Number(number), isRepeat: true, open: NOTHING_CLOSED }
}

/**
 * The name of the `index`th call that a turn makes. Callers may use one name for operations of several
 * actors, so it contains the actor whose turn it is, unless the operation is of one actor alone.
 */
export function derivedName(of: Operation, actor: string, index: number): string {
  const text = operationText(of)
  return `${text.startsWith("~") ? text : `~${actor}/${text}`}/${index}`
}

/** Why a text cannot be an operation; undefined if it can. */
export function operationProblem(text: unknown): string | undefined {
  if (typeof text !== "string") return "must be a string"
  if (text.startsWith("~")) return isMade(text) ? undefined : "must not begin with ~"
  if (text.length === 0 || text.length > MAX_NAME) return `must have 1 to ${MAX_NAME} characters`
  return undefined
}

/** An operation as it is sent. */
export type OperationOnTheWire = readonly (string | number)[]

export function packOperation(operation: Operation): OperationOnTheWire {
  const isRepeat = operation.isRepeat ? 1 : 0
  if (operation.kind === "named") return [operation.name, isRepeat]
  if (operation.kind === "sent") {
    const { sender, birth, number } = operation
    return birth === 0 ? [sender, isRepeat, number] : [sender, isRepeat, number, birth]
  }
  const { caller, number, open } = operation
  return [caller, isRepeat, number, open.upTo, ...open.ranges]
}

/** Undefined for what no node sends. */
export function unpackOperation(packed: unknown): Operation | undefined {
  if (!Array.isArray(packed)) return undefined
  const [name, repeat, number, upTo, ...ranges] = packed as readonly unknown[]
  if (typeof name !== "string" || name.length === 0 || name.length > MAX_SENDER) return undefined
  if (repeat !== 0 && repeat !== 1) return undefined
  const isRepeat = repeat === 1
  if (number === undefined) return name.length > MAX_DERIVED ? undefined : { kind: "named", name, isRepeat }
  if (upTo === undefined || !CALLER.test(name)) {
    const birth = upTo ?? 0
    const isRight = isNumber(number) && isNumber(birth) && ranges.length === 0
    return isRight ? { kind: "sent", sender: name, birth, number, isRepeat } : undefined
  }
  if (!isNumber(number) || number === 0 || !isNumber(upTo)) return undefined
  if (ranges.length > 2 * MAX_RANGES || !areRanges(ranges, upTo)) return undefined
  const open = { upTo, ranges }
  return isClosed(open, number) ? undefined : { kind: "numbered", caller: name, number, isRepeat, open }
}

export function isClosed({ upTo, ranges }: OpenNumbers, number: number): boolean {
  if (number > upTo) return false
  for (let at = 0; at < ranges.length; at += 2) {
    if (number < (ranges[at] as number)) return true
    if (number <= (ranges[at + 1] as number)) return false
  }
  return true
}

/** Whether these are the ranges of numbers up to `upTo`, each apart from the one before. */
export function areRanges(values: readonly unknown[], upTo: number): values is readonly number[] {
  if (values.length % 2 !== 0) return false
  let before = 0
  return values.every((value, at) => {
    if (!isNumber(value) || value > upTo || value < before + (at % 2 === 0 ? 1 : 0)) return false
    before = value
    return true
  })
}

/** The maximum number of ranges that an attempt sends. */
export const MAX_RANGES = 16

const MAX_NAME = 200
/** The operations of calls that are made for one another grow by a few characters each time. */
const MAX_DERIVED = 1_024
/** The longest name of an actor. */
const MAX_SENDER = 2_304
const CALLER = /^[0-9a-f]{16}$/
const NUMBERED = /^~([0-9a-f]{16})\.(\d{1,15})$/
const DERIVED = /^~.+\/\d+$/s
const NOTHING_CLOSED: OpenNumbers = { upTo: 0, ranges: [] }

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Whether the runtime makes such texts. */
function isMade(text: string): boolean {
  return NUMBERED.test(text) || (text.length <= MAX_DERIVED && DERIVED.test(text))
}
