import { decodeState } from "../../src/registry/stored-state.js"
import { InputBytes } from "../../src/serialization/input-bytes.js"
import type { SimStoreEvent, Stage } from "../../src/sim/index.js"
import { EXPIRY, OUTBOX, parseDue } from "../../src/virtual/due-entry.js"
import type { Cluster } from "../cluster/cluster.js"
import { decodedValue, STATE } from "../cluster/store-history.js"
import type { RowCounts } from "./events.js"
import type { GateWatch } from "./gate-watch.js"
import type { VaultState } from "./vault.js"

/** Records every commit of a vault, with all that the store has of the vault by then. */
export function recordVaults(stage: Stage, { store, namespace }: Cluster, gate: GateWatch): void {
  const states = `${namespace}/${STATE}Vault/`
  const rows = `${namespace}/kin/Vault/`
  const kept = new Map<string, Uint8Array>()
  const due = new Map<string, ReadonlySet<number>>()
  const forget = (key: string): void => {
    const [vault = "", kind] = key.slice(rows.length).split("/")
    const row = kept.get(key)
    kept.delete(key)
    if (kind === "o" && row !== undefined) stage.record({ kind: "forgotten", vault, name: nameIn(row) })
  }
  const noteRefused = ({ by, commit }: SimStoreEvent & { kind: "judged" }): void => {
    const puts = new Map(commit.writes.flatMap((one) => (one.kind === "put" ? [[one.key, one.value]] : [])))
    for (const [key, bytes] of puts) {
      if (!key.startsWith(states)) continue
      const vault = key.slice(states.length)
      const { value, chunk } = decodeState(bytes)
      const whole =
        chunk === undefined
          ? value
          : (puts.get(`${rows}${vault}/c/${chunk}`) ?? kept.get(`${rows}${vault}/c/${chunk}`))
      if (whole === undefined) continue
      gate.refused(by, vault, (decodedValue(whole) as VaultState).applied)
    }
  }
  store.observe((event: SimStoreEvent) => {
    if (event.kind !== "judged") return
    if (event.result.kind === "refused") return noteRefused(event)
    for (const write of event.commit.writes) {
      noteDue(due, write.key.slice(namespace.length + 1), write.kind === "put")
      if (!write.key.startsWith(rows)) continue
      if (write.kind === "put") kept.set(write.key, write.value)
      else forget(write.key)
    }
    for (const write of event.commit.writes) {
      if (write.kind !== "put" || !write.key.startsWith(states)) continue
      const vault = write.key.slice(states.length)
      const own = `${rows}${vault}/`
      const { value, chunk, memory } = decodeState(write.value)
      const whole = chunk === undefined ? value : kept.get(`${own}c/${chunk}`)
      stage.always("a state has its chunk", whole !== undefined, () => `${vault} has no chunk ${chunk}`)
      stage.sometimes("a state is in a chunk", chunk !== undefined)
      const state = decodedValue(whole ?? value) as VaultState
      gate.stored(event.by, vault, state.applied)
      stage.record({
        kind: "stored",
        vault,
        by: event.by,
        state,
        memory: memoryOf(memory),
        rows: {
          ...countsOf(kept.keys(), own),
          due: [...(due.get(vault + OUTBOX) ?? [])],
          expiry: [...(due.get(vault + EXPIRY) ?? [])],
        },
      })
    }
  })
}

/** What a head says of operations. */
export interface Memory {
  readonly bytes: number
  readonly named: number
  /** The time at which names are in the index of what is due, as old ones are to be forgotten. */
  readonly namedDueAt: number
  /** The number of outcomes in rows. */
  readonly inRows: number
  /** The number of messages in rows, and the time at which they are in the index of what is due. */
  readonly messages: number
  readonly dueAt: number
  /** The numbers that are remembered of each process. */
  readonly callers: ReadonlyMap<string, readonly number[]>
}

function memoryOf(bytes: Uint8Array | undefined): Memory {
  const callers = new Map<string, readonly number[]>()
  if (bytes === undefined)
    return { bytes: 0, named: 0, namedDueAt: 0, inRows: 0, messages: 0, dueAt: 0, callers }
  const input = new InputBytes(Buffer.from(bytes), 0, bytes.length)
  // Of messages: if any was sent, the number of rows and the time of the entry follow.
  const [messages, dueAt] = input.varint() > 0 ? [input.varint(), input.varint()] : [0, 0]
  // Of reminders.
  input.varint()
  input.raw(input.varint())
  input.varint()
  const named = input.varint()
  const namedDueAt = named > 0 ? input.varint() : 0
  let inRows = 0
  for (let left = input.varint(); left > 0; left -= 1) {
    const caller = input.raw(8).toString("hex")
    input.varint()
    input.varint()
    for (let values = input.varint(); values > 0; values -= 1) input.varint()
    const numbers: number[] = []
    for (let outcomes = input.varint(); outcomes > 0; outcomes -= 1) {
      numbers.push(input.varint())
      const isInRow = (input.u8() & 2) !== 0
      input.varint()
      if (isInRow) inRows += 1
      else input.raw(input.varint())
    }
    callers.set(caller, numbers)
  }
  return { bytes: bytes.length, named, namedDueAt, inRows, messages, dueAt, callers }
}

/** The name in the row of a named operation. */
function nameIn(row: Uint8Array): string {
  const input = new InputBytes(Buffer.from(row), 0, row.length)
  input.u8()
  input.raw(16)
  return input.text()
}

function countsOf(keys: Iterable<string>, own: string): Omit<RowCounts, "due" | "expiry"> {
  const counts = { o: 0, e: 0, a: 0, c: 0, x: 0, i: 0 }
  for (const key of keys) {
    if (key.startsWith(own)) counts[key[own.length] as keyof typeof counts] += 1
  }
  return counts
}

/** Notes what the index of what is due has of each vault. */
function noteDue(due: Map<string, ReadonlySet<number>>, key: string, isThere: boolean): void {
  const entry = parseDue(key)
  if (entry === undefined || entry === "needs-value") return
  const owner = entry.key + entry.name
  const times = new Set(due.get(owner))
  if (isThere) times.add(entry.at)
  else times.delete(entry.at)
  due.set(owner, times)
}
