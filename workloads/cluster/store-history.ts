import { binaryCodec } from "../../src/index.js"
import type { Commit } from "../../src/ports/store.js"
import { decodeRecord, LEASES, NODES, type RecordStatus } from "../../src/registry/node-record.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import { decodeState } from "../../src/registry/stored-state.js"
import { OutputBuffer } from "../../src/serialization/output-buffer.js"
import { TypeRegistry } from "../../src/serialization/type-registry.js"
import { SHARDS } from "../../src/sharding/shard-keys.js"
import type { SimStoreEvent, Stage } from "../../src/sim/index.js"
import { ClaimTimes } from "./claim-times.js"
import type { Cluster } from "./cluster.js"

/**
 * What the store has held, and since when in true time. Records every commit at the moment in which it is
 * made.
 */
export class StoreHistory {
  readonly claims: ClaimTimes
  /** Whether actors stand on the records of shards. */
  readonly isSharded: boolean
  readonly #stage: Stage
  readonly #prefix: string
  readonly #isAlive: (life: string) => boolean
  readonly #recordOf: (id: string) => string
  readonly #records = new Map<string, RecordStatus>()
  readonly #leases = new Set<string>()
  readonly #goneAtMs = new Map<string, number>()
  readonly #placed = new Map<string, { readonly node: string; readonly generation: number }>()
  #attempts = 0

  constructor(
    stage: Stage,
    cluster: Pick<Cluster, "namespace" | "store" | "isAlive" | "recordOf" | "isSharded">,
  ) {
    this.#stage = stage
    this.isSharded = cluster.isSharded
    this.#recordOf = cluster.recordOf
    this.claims = new ClaimTimes(cluster.recordOf)
    this.#prefix = `${cluster.namespace}/`
    this.#isAlive = (life) => cluster.isAlive(life)
    cluster.store.observe((event) => this.#take(event))
  }

  /** The latest generation that was ever claimed. */
  latest(id: string): number {
    return this.claims.latest(id)
  }

  /** Whether no other node has claimed the actor since, nor this one for another activation. */
  isLatest(id: string, generation: number): boolean {
    return this.claims.overtaking(id, generation) === undefined
  }

  /** When the record of that node was deleted, if it was. */
  goneAtMs(node: string): number | undefined {
    return this.#goneAtMs.get(node)
  }

  /** How many claims were sent, whatever their outcome. */
  get attempts(): number {
    return this.#attempts
  }

  #take(event: SimStoreEvent): void {
    const stage = this.#stage
    if (event.kind === "cut") return stage.sometimes("the store begins a new epoch")
    const { result, commit, by } = event
    const [first] = commit.writes
    const isSave = this.#isAbout(first?.key, STATE)
    if (first?.kind === "put" && this.#isAbout(first.key, PLACEMENTS)) this.#attempts += 1
    if (result.kind === "refused") {
      const isMoved = result.found.some(({ key }) => this.#isRecord(key))
      if (isSave && isMoved) stage.sometimes("a stale save is refused")
      if (isSave && !isMoved) stage.sometimes("a save is refused by another of its own activation")
      if (isSave && isMoved && first !== undefined) this.#refused(first.key, event)
      const isClaim = first?.kind === "put" && this.#isAbout(first.key, PLACEMENTS)
      if (isClaim && isMoved) stage.sometimes("a race is lost")
    }
    if (result.kind !== "committed") return
    const touched = new Set<string>()
    for (const write of commit.writes) {
      const key = write.key.slice(this.#prefix.length)
      const value = write.kind === "put" ? write.value : undefined
      if (key.startsWith(NODES)) this.#record(touch(touched, key, NODES), value)
      else if (key.startsWith(LEASES)) this.#lease(touch(touched, key, LEASES), value !== undefined, by)
      else if (this.#isRecord(write.key)) this.#place(key, value, result.revision)
      else if (key.startsWith(STATE) && value !== undefined)
        this.#wrote(key.slice(STATE.length), value, commit)
    }
    for (const node of touched) {
      const hasRecord = this.#records.has(node)
      stage.record({ kind: "membership", node, hasRecord, hasLease: this.#leases.has(node) })
    }
    if (isSave && event.isLate) stage.sometimes("a save arrives after its node has given up on it")
  }

  #record(node: string, value: Uint8Array | undefined): void {
    const status = value === undefined ? undefined : decodeRecord(value)?.status
    if (status === undefined) {
      if (this.#records.delete(node)) this.#goneAtMs.set(node, this.#stage.nowMs)
      return
    }
    this.#records.set(node, status)
    if (status === "leaving") this.#stage.sometimes("a leave is announced")
    if (status === "down") this.#stage.sometimes("a node is set down")
  }

  #lease(node: string, isThere: boolean, by: string): void {
    if (!isThere) {
      this.#leases.delete(node)
      return
    }
    if (this.#leases.has(node)) {
      const isOrphan = !this.#isAlive(by)
      this.#stage.record({ kind: "renewed", node, status: this.#records.get(node) ?? "gone", isOrphan })
    }
    this.#leases.add(node)
  }

  #place(record: string, value: Uint8Array | undefined, generation: number): void {
    const before = this.#placed.get(record)?.node
    if (value === undefined) {
      this.#placed.delete(record)
      if (before !== undefined) this.#stage.sometimes("an actor is released")
      return
    }
    const node = Buffer.from(value).toString("latin1")
    this.#placed.set(record, { node, generation })
    this.claims.add(record, { generation, node, atMs: this.#stage.nowMs })
    const id = record.startsWith(PLACEMENTS) ? record.slice(PLACEMENTS.length) : record
    this.#stage.record({ kind: "claimed", id, node, generation, status: this.#records.get(node) ?? "gone" })
    const isTakenOver = before !== undefined && before !== node && !this.#records.has(before)
    if (isTakenOver) this.#stage.sometimes("an actor is taken over from a node that is gone")
    if (before === node) this.#stage.sometimes("a node claims again what is its own")
  }

  #wrote(id: string, bytes: Uint8Array, commit: Commit): void {
    const record = this.#recordOf(id)
    const generation = generationOf(commit, this.#prefix + record) ?? authorOf(bytes).generation
    const placedAt = this.#placed.get(record)?.generation
    this.#stage.record({ kind: "wrote", id, generation, placedAt, bytes })
  }

  /** A save of an actor in a shard was refused, as the shard has another generation. */
  #refused(key: string, { commit, isLate }: SimStoreEvent & { kind: "judged" }): void {
    const id = key.slice(this.#prefix.length + STATE.length)
    const record = this.#recordOf(id)
    const generation = generationOf(commit, this.#prefix + record)
    if (generation === undefined || !this.isSharded) return
    const isOwn = this.claims.overtaking(id, generation) === undefined
    this.#stage.record({ kind: "save-refused", id, generation, isOwn, isLate })
  }

  #isRecord(key: string): boolean {
    return this.#isAbout(key, PLACEMENTS) || this.#isAbout(key, SHARDS)
  }

  #isAbout(key: string | undefined, prefix: string): boolean {
    return key?.startsWith(this.#prefix + prefix) === true
  }
}

/** Where the registry keeps states. */
export const STATE = "state/"

/** The activation that wrote a state, by the id of the write. */
export interface Author {
  readonly generation: number
  readonly writeId: string
}

/**
 * The generation that a commit is conditioned on, if it is. An activation that goes on under a later
 * generation of its shard may have named its write before.
 */
export function generationOf({ conditions }: Commit, record: string): number | undefined {
  for (const condition of conditions) {
    if (condition.kind === "at" && condition.key === record) return condition.revision
  }
  return undefined
}

export function authorOf(bytes: Uint8Array): Author {
  const { writeId } = decodeState(bytes)
  return { generation: Number(writeId.split(".")[1]), writeId }
}

/** What an actor saved. */
export function stateOf(bytes: Uint8Array): unknown {
  return decodedValue(decodeState(bytes).value)
}

/** The value that stands in a state or a chunk. */
export function decodedValue(value: Uint8Array): unknown {
  return codec.decode(Buffer.from(value), 0, value.length)
}

/** A value as actors of the workloads store it. */
export function encodedValue(value: unknown): Uint8Array {
  const out = new OutputBuffer(1_024)
  codec.encode(value, out)
  return out.bytes.subarray(0, out.at)
}

const codec = binaryCodec()({
  types: new TypeRegistry([]),
  refs: {
    isRef: () => false,
    textOf: () => "",
    refOf: () => {
      throw new TypeError("there is no ref in a state")
    },
  },
})

function touch(touched: Set<string>, key: string, prefix: string): string {
  const node = key.slice(prefix.length)
  touched.add(node)
  return node
}
