import { OverloadedError } from "../errors/call-errors.js"
import { OperationMismatchError } from "../errors/operation-errors.js"
import type { WallMs } from "../ports/clock.js"
import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import type { ActorMethod } from "./actor-type.js"
import { EXPIRY as DUE } from "./due-entry.js"
import { moveDue } from "./due-writes.js"
import { DIGEST_KEY, type DurableOwner, digestOf, rowKey, type TurnChanges } from "./durable-owner.js"
import type { NamedOperation } from "./operation.js"
import type { OperationMemory } from "./operation-memory.js"
import { type Admission, answered, failed, type Remembered, RUN } from "./recollection.js"
import { staleEntry } from "./stale-entry.js"
import type { Turn } from "./turn.js"

/**
 * The named operations of one activation. Each has a row, which is put on the condition that there is none:
 * it is a claim against another activation that applied the operation. If there is one after all, the commit
 * is refused and the activation ends; the repeat then finds the row.
 *
 * Rows are kept for as long as the method says. A second row, by the time at which the first one may go,
 * makes the old ones easy to find: turns that add rows delete some of those. An actor that is not called any
 * more has an entry in the index of what is due, so that its keeper makes it delete the rest.
 */
export class NamedOperations {
  readonly #owner: DurableOwner
  readonly #state: DurableState
  readonly #memory: OperationMemory
  readonly #turns: TurnChanges
  /** What was applied by turns whose commit is not decided, by the key of its row. */
  readonly #undecided = new Map<string, Row>()
  /** The rows that tell of expired ones, to be deleted. */
  #expired: readonly string[] = []
  /** Those that turns have deleted. */
  #deleted = new Set<string>()
  #isLooking = false
  #turnsUntilLook = 0

  constructor(
    owner: DurableOwner,
    state: DurableState,
    { memory, turns }: { readonly memory: OperationMemory; readonly turns: TurnChanges },
  ) {
    this.#owner = owner
    this.#state = state
    this.#memory = memory
    this.#turns = turns
  }

  admit(turn: Turn, operation: NamedOperation): Admission | Promise<Admission> {
    // The turn may change its arguments.
    turn.print = this.#printOf(turn)
    const name = rowName(this.#owner, operation)
    const undecided = this.#undecided.get(rowKey(this.#owner, name))
    if (undecided !== undefined) return this.#found(turn, undecided)
    if (!operation.isRepeat) return this.#admitNew()
    return this.#state.satellites.rowInTime(name).then(
      (bytes) => (bytes === undefined ? this.#admitNew() : this.#found(turn, decodeRow(bytes))),
      (error: unknown) => failed(error),
    )
  }

  /** Admits an operation that has no row, if there is room for one: a turn deletes more rows than it adds. */
  #admitNew(): Admission | Promise<Admission> {
    const { maxOperations } = this.#owner.type.durability
    if (this.#memory.named < maxOperations) return RUN
    return this.#look().then(() => {
      if (this.#expired.length > 0) return RUN
      const id = this.#owner.tenure.id.toString()
      return failed(new OverloadedError(id, maxOperations, "remembered operations"))
    })
  }

  remember(
    turn: Turn,
    operation: NamedOperation,
    { bytes, isError }: { readonly bytes: Uint8Array; readonly isError: boolean },
  ): Remembered {
    const { retainMs } = (turn.method as ActorMethod).once as { readonly retainMs: number }
    const key = rowKey(this.#owner, rowName(this.#owner, operation))
    const row = { print: turn.print as Uint8Array, isError, bytes, name: operation.name }
    const expiresAt = this.#owner.home.clock.wallMs() + retainMs
    this.#undecided.set(key, row)
    this.#memory.named += 1
    const writes: Write[] = [
      { kind: "put", key, value: encodeRow(row) },
      {
        kind: "put",
        key: rowKey(this.#owner, expiryName(expiresAt, rowName(this.#owner, operation))),
        value: EMPTY,
      },
      ...this.#deletions(),
    ]
    if (this.#memory.namedDueAt === 0) writes.push(...this.#moveDue(expiresAt))
    return { writes, absent: [key] }
  }

  /** Returns how to go on with the call of a keeper that old rows are due, by an entry of this time. */
  async expire(at: WallMs): Promise<Admission> {
    if (at !== this.#memory.namedDueAt) return staleEntry(this.#owner, this.#turns, { name: DUE, at })
    const now = this.#owner.home.clock.wallMs()
    if (at > now + MOST_EARLY_MS) return { kind: "answer", given: ["early"] }
    const found = await this.#state.satellites.names(NAMED_UNTIL, MOST_EXPIRED + 1)
    const known = found.filter((name) => !this.#deleted.has(name))
    const old = known.filter((name) => timeOfExpiry(name) <= now).slice(0, MOST_EXPIRED)
    const [first] = known.slice(old.length)
    const run = () => {
      this.#expired = this.#expired.filter((name) => !old.includes(name))
      const writes = this.#delete(old)
      this.#turns.change([...writes, ...this.#moveDue(this.#nextExpiry(first))])
      return ["fired", this.#memory.namedDueAt || undefined]
    }
    return { kind: "run", task: { run } }
  }

  /**
   * Returns when rows are to be deleted next. Rows of turns whose commit is not decided are counted, and not
   * found: they are looked for a while later.
   */
  #nextExpiry(first: string | undefined): WallMs | undefined {
    if (first !== undefined) return timeOfExpiry(first)
    return this.#memory.named === 0 ? undefined : this.#owner.home.clock.wallMs()
  }

  /** Enters the actor as one that has rows to delete from this time on. */
  #moveDue(expiresAt: WallMs | undefined): readonly Write[] {
    const memory = this.#memory
    const from = memory.namedDueAt === 0 ? undefined : memory.namedDueAt
    const earliest = this.#owner.home.clock.wallMs()
    // Rows that are due soon afterwards are deleted together.
    const to = expiresAt === undefined ? undefined : Math.ceil(Math.max(earliest, expiresAt + TOGETHER_MS))
    memory.namedDueAt = to ?? 0
    return moveDue(this.#owner, DUE, from, to)
  }

  /** A commit was made that wrote this key. */
  stored(key: string): void {
    this.#undecided.delete(key)
  }

  #found(turn: Turn, { print, bytes, isError }: Row): Admission {
    if (Buffer.compare(print, turn.print as Uint8Array) !== 0) {
      return failed(new OperationMismatchError(this.#owner.tenure.id.toString()))
    }
    return answered(this.#state, bytes, isError)
  }

  /** Tells calls with other arguments apart. */
  #printOf({ invocation }: Turn): Uint8Array {
    const { method, args } = invocation
    const { digest } = this.#owner.home
    return digest.hmacSha256(DIGEST_KEY, this.#state.encodeAlike([method, ...args])).subarray(0, 16)
  }

  /** Deletes a few expired rows, and looks for more of them now and then. */
  #deletions(): readonly Write[] {
    const expired = this.#expired.slice(0, MOST_DELETED)
    this.#expired = this.#expired.slice(MOST_DELETED)
    this.#turnsUntilLook -= 1
    if (this.#expired.length === 0 && this.#turnsUntilLook <= 0) void this.#look()
    return this.#delete(expired)
  }

  /** Deletes rows by those that tell of them. */
  #delete(expired: readonly string[]): readonly Write[] {
    for (const name of expired) this.#deleted.add(name)
    this.#memory.named -= expired.length
    return expired.flatMap((name): Write[] => [
      { kind: "delete", key: rowKey(this.#owner, name) },
      { kind: "delete", key: rowKey(this.#owner, rowOfExpiry(name)) },
    ])
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#turnsUntilLook = LOOK_AFTER
    try {
      const now = this.#owner.home.clock.wallMs()
      const found = await this.#state.satellites.names(NAMED_UNTIL, LOOK_AFTER)
      // The commit that deletes a row may not be decided. The name may be used again afterwards, so its row
      // must not be deleted twice. What is not found any more never comes back.
      this.#deleted = new Set(found.filter((name) => this.#deleted.has(name)))
      this.#expired = found.filter((name) => timeOfExpiry(name) <= now && !this.#deleted.has(name))
    } catch {
      // The next look may succeed.
    } finally {
      this.#isLooking = false
    }
  }
}

interface Row {
  readonly print: Uint8Array
  readonly isError: boolean
  readonly bytes: Uint8Array
  readonly name: string
}

/** The prefix of the rows that tell until when a named operation is remembered. */
export const NAMED_UNTIL = "e/"
const EMPTY = new Uint8Array(0)
const MOST_DELETED = 2
/** A turn changes at most 96 rows. */
const MOST_EXPIRED = 40
const TOGETHER_MS = 60 * 60 * 1_000
/** As for reminders: a node whose clock is behind that of the keeper refuses. */
const MOST_EARLY_MS = 5_000
const LOOK_AFTER = 64

function rowName(owner: DurableOwner, { name }: NamedOperation): string {
  return `o/${namePart(owner, name)}`
}

/**
 * A name as a part of a key. Long or unusual names are replaced by their digest; the row has the name itself.
 */
export function namePart({ home }: DurableOwner, name: string): string {
  const isPlain = name.length <= MAX_PLAIN && /^[\w.~:/-]+$/.test(name)
  if (isPlain) return name.replaceAll("/", "!")
  return `#${digestOf(home, name)}`
}

const MAX_PLAIN = 80

function expiryName(atMs: number, row: string): string {
  return `${NAMED_UNTIL}${String(Math.ceil(atMs)).padStart(16, "0")}/${row.slice(2)}`
}

export function timeOfExpiry(name: string): number {
  return Number(name.slice(NAMED_UNTIL.length, NAMED_UNTIL.length + 16))
}

export function rowOfExpiry(name: string): string {
  return `o/${name.slice(NAMED_UNTIL.length + 17)}`
}

function encodeRow({ print, isError, bytes, name }: Row): Uint8Array {
  const out = new OutputBuffer(64 + bytes.length)
  out.u8(isError ? 1 : 0)
  out.raw(print)
  out.text(name)
  out.raw(bytes)
  return out.bytes.subarray(0, out.at)
}

function decodeRow(row: Uint8Array): Row {
  const input = new InputBytes(Buffer.from(row.buffer, row.byteOffset, row.byteLength), 0, row.length)
  const isError = input.u8() === 1
  const print = input.raw(16)
  const name = input.text()
  return { print, isError, name, bytes: input.raw(input.left) }
}
