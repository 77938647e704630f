import type { ActorId } from "../address/actor-id.js"
import { satelliteKey, stateKey } from "../registry/registry-keys.js"
import { readState, readValue } from "../registry/state-value.js"
import type { ActorHost } from "./actor-host.js"
import { splitRows } from "./inline-reminders.js"
import { decodeMessage, MESSAGES } from "./message.js"
import { OperationMemory } from "./operation-memory.js"
import { decodeReminder } from "./reminder-row.js"
import { REMINDERS } from "./stored-dues.js"

/** What the store has of one actor, for people to look at, wherever and whether it runs. */
export interface StoredActor {
  /** The size of its head, with the state if that is small. */
  readonly bytes: number
  /** The version of the state, as its type counts them. */
  readonly version: number
  /** The value; undefined if there is none, or `problem` says why it is not shown. */
  readonly value: unknown
  readonly problem: string | undefined
  readonly reminders: readonly { readonly name: string; readonly next: number }[]
  /** The messages that are not delivered yet, as far as is known, and at most 100 of them. */
  readonly outgoing: readonly { readonly to: string; readonly method: string }[]
}

/**
 * Reads what the store has of an actor; undefined if it has nothing. The records are read one after the
 * other, so they may be of different moments. Rejects with a `StoreUnavailableError`, and with errors of what
 * cannot be decoded.
 */
export async function readStoredActor(host: ActorHost, id: ActorId): Promise<StoredActor | undefined> {
  const { store, stateCodecs: codecs } = host.options
  const { entry } = await store.get(stateKey(id))
  if (entry === undefined) return undefined
  const stored = readState(entry.value, { id, codecs, shape: NO_SHAPE })
  if (stored.end !== undefined) return undefined
  const memory = stored.memory === undefined ? undefined : OperationMemory.decode(stored.memory)
  const inline = memory === undefined ? [] : splitRows(memory.reminders.inline)
  const rows = memory === undefined || memory.reminders.rows === 0 ? [] : await rowsOf(host, id, REMINDERS)
  const reminders = [...inline, ...rows.map(({ value }) => value)].map((bytes) => decodeReminder(bytes))
  const sent = memory === undefined || memory.outbox.rows === 0 ? [] : await rowsOf(host, id, MESSAGES)
  return {
    bytes: entry.value.length,
    version: stored.version,
    ...shownValue(stored, { id, codecs, shape: { version: stored.version } }),
    reminders: reminders.map(({ name, next }) => ({ name, next })),
    outgoing: sent.map(({ key, value }) => {
      const { type, key: to, method } = decodeMessage(key, value)
      return { to: `${type}/${to}`, method }
    }),
  }
}

function shownValue(
  stored: ReturnType<typeof readState>,
  format: Parameters<typeof readValue>[1],
): Pick<StoredActor, "value" | "problem"> {
  if (stored.chunk !== undefined) return { value: undefined, problem: "it is stored in a chunk of its own" }
  try {
    return { value: readValue(stored, format, undefined), problem: undefined }
  } catch (error) {
    return { value: undefined, problem: (error as Error).message }
  }
}

async function rowsOf({ options }: ActorHost, id: ActorId, prefix: string) {
  const start = satelliteKey(id, "")
  const { entries } = await options.store.list(start + prefix, { limit: MOST_ROWS })
  return entries.map(({ key, value }) => ({ key: key.slice(start.length), value }))
}

/** Reading the head needs none. */
const NO_SHAPE = { version: 0 }
const MOST_ROWS = 100
