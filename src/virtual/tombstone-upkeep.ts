import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import { satelliteKey } from "../registry/registry-keys.js"
import { EXPIRY, TOMBSTONE } from "./due-entry.js"
import { type DueOwner, dueKey, moveDue } from "./due-writes.js"
import { rowKey } from "./durable-owner.js"
import { lastHeard } from "./inbox.js"
import { MESSAGES } from "./message.js"
import { NAMED_UNTIL, rowOfExpiry, timeOfExpiry } from "./named-operations.js"
import { OperationMemory } from "./operation-memory.js"

/**
 * Forgets what a tombstone need not remember any more, as its keeper asks once a day. Returns what the keeper
 * is told. Numbered operations are forgotten a day after their caller was heard of, and callers that are not
 * known are suspected for another day.
 *
 * The last message of a sender is remembered for as long as the sender has one with that number, or a lower
 * one, that is not delivered: it may be delivered again. Its rows are the sender's own, in the same store.
 */
export async function tidyTombstone(
  owner: DueOwner,
  state: DurableState,
  [name, at]: readonly unknown[],
): Promise<readonly unknown[]> {
  const { end, memory: bytes } = state
  const now = owner.home.clock.wallMs()
  if (end === undefined || typeof at !== "number") return ["gone"]
  if (at > now + MOST_EARLY_MS) return ["early"]
  const memory = bytes === undefined ? new OperationMemory() : OperationMemory.decode(bytes)
  memory.forgetOld(now, 0)
  const answers = memory.takeUnneeded(MOST_AT_ONCE)
  memory.forgetOld(now, 0)
  const senders = await unneededSenders(owner, state)
  const named = await expiredNames(state, now)
  memory.named -= named.length
  const isAll = answers.length < MOST_AT_ONCE && !senders.more && named.length < MOST_NAMED
  const next = Math.ceil(now + (isAll ? LOOK_AFTER_MS : GO_ON_AFTER_MS))
  const { life } = memory
  const rows = [...answers, ...senders.rows, ...named.flatMap((name) => [name, rowOfExpiry(name)])]
  const writes = [
    ...rows.map((row): Write => ({ kind: "delete", key: rowKey(owner, row) })),
    ...moveDue(owner, TOMBSTONE, life.tombstoneAt || undefined, next),
    // The entry of the tombstone leads to the named operations too.
    ...moveDue(owner, EXPIRY, memory.namedDueAt || undefined, undefined),
    ...staleEntries(owner, memory, { name, at }),
  ]
  life.tombstoneAt = next
  memory.namedDueAt = 0
  await state.write({ value: end, memory: memory.encode(), changes: { writes, absent: [] } })
  return ["fired", next]
}

/** Deletes the entry that the keeper has read, if it is none that the actor has. */
function staleEntries(
  owner: DueOwner,
  { life, namedDueAt }: OperationMemory,
  { name, at }: { readonly name: unknown; readonly at: number },
): readonly Write[] {
  if ((name === TOMBSTONE ? life.tombstoneAt : namedDueAt) === at) return []
  return [{ kind: "delete", key: dueKey(owner, String(name), at) }]
}

/** The rows that tell of named operations which may be forgotten. */
async function expiredNames(state: DurableState, now: number): Promise<readonly string[]> {
  const { rows } = await state.satellites.pageInTime(NAMED_UNTIL, MOST_NAMED)
  return rows.map(({ name }) => name).filter((name) => timeOfExpiry(name) <= now)
}

/** The rows of senders that cannot repeat the message that they are about. */
async function unneededSenders(
  owner: DueOwner,
  state: DurableState,
): Promise<{ readonly rows: readonly string[]; readonly more: boolean }> {
  const { rows, more } = await state.satellites.pageInTime(SENDERS, MOST_AT_ONCE)
  const isUnneeded = await Promise.all(
    rows.map(async ({ value }) => {
      const { sender, number } = lastHeard(value)
      const slash = sender.indexOf("/")
      const id = owner.home.idOf(sender.slice(0, slash), sender.slice(slash + 1))
      const prefix = satelliteKey(id, MESSAGES)
      const { entries } = await owner.home.state.store.list(prefix, { limit: 1, keysOnly: true })
      const [first] = entries
      return first === undefined || Number(first.key.slice(prefix.length)) > number
    }),
  )
  return { rows: rows.filter((_, at) => isUnneeded[at]).map(({ name }) => name), more }
}

const SENDERS = "i/"
/** A commit has at most 128 writes. */
const MOST_AT_ONCE = 30
const MOST_NAMED = 25
const LOOK_AFTER_MS = 24 * 60 * 60 * 1_000
const GO_ON_AFTER_MS = 1_000
/** As for reminders: a node whose clock is behind that of the keeper refuses. */
const MOST_EARLY_MS = 5_000
