import { decodeRecord, LEASES, NODES, type RecordStatus } from "../../src/registry/node-record.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import type { SimStore, SimStoreEvent, Stage } from "../../src/sim/index.js"
import { readState, STATE } from "./kept-state.js"

/** What the store has held, and since when in true time; tells the invariants of every commit in the moment in which it is made. */
export class StoreHistory {
  readonly #stage: Stage
  readonly #isAlive: (life: string) => boolean
  readonly #prefix: string
  readonly #records = new Map<string, RecordStatus>()
  readonly #leases = new Set<string>()
  /** By incarnation. */
  readonly #goneAtMs = new Map<string, number>()
  readonly #claims = new Map<string, ClaimMade[]>()
  readonly #placed = new Map<string, string>()

  constructor(stage: Stage, store: SimStore, namespace: string, isAlive: (life: string) => boolean) {
    this.#stage = stage
    this.#prefix = `${namespace}/`
    this.#isAlive = isAlive
    store.observe((event) => this.#take(event))
  }

  /** The first claim of this id after that generation, if one was made before that moment. */
  claimAfter(id: string, generation: number, atMs: number): ClaimMade | undefined {
    return this.#claims.get(id)?.find((claim) => claim.generation > generation && claim.atMs < atMs)
  }

  latest(id: string): number {
    return this.#claims.get(id)?.at(-1)?.generation ?? 0
  }

  /** When the record of that incarnation was deleted, if it was. */
  goneAtMs(incarnation: string): number | undefined {
    return this.#goneAtMs.get(incarnation)
  }

  #take(event: SimStoreEvent): void {
    if (event.kind === "cut") return this.#stage.sometimes("the store begins a new epoch")
    const { result, commit, by } = event
    if (result.kind === "refused") {
      const isSave = commit.writes.some(({ key }) => this.#bare(key).startsWith(STATE))
      const isStale = result.found.some(({ key }) => this.#bare(key).startsWith(PLACEMENTS))
      this.#stage.sometimes("a stale save is refused", isSave && isStale)
      this.#stage.sometimes("a save is refused by another of its own activation", isSave && !isStale)
    }
    if (result.kind !== "committed") return
    const touched = new Set<string>()
    for (const write of commit.writes) {
      const key = this.#bare(write.key)
      const value = write.kind === "put" ? write.value : undefined
      if (key.startsWith(NODES)) this.#record(touch(touched, key, NODES), value)
      else if (key.startsWith(LEASES)) this.#lease(touch(touched, key, LEASES), value !== undefined, by)
      else if (key.startsWith(PLACEMENTS)) this.#place(key.slice(PLACEMENTS.length), value, result.revision)
      else if (key.startsWith(STATE) && value !== undefined) this.#wrote(key.slice(STATE.length), value)
    }
    for (const node of touched) {
      const hasRecord = this.#records.has(node)
      this.#stage.record({ kind: "membership", node, hasRecord, hasLease: this.#leases.has(node) })
    }
    const isTakeOver = event.isLate && commit.writes.some(({ key }) => this.#bare(key).startsWith(STATE))
    this.#stage.sometimes("a save arrives after its node has given up on it", isTakeOver)
  }

  #record(node: string, value: Uint8Array | undefined): void {
    const status = value === undefined ? undefined : decodeRecord(value)?.status
    if (status === undefined) {
      if (this.#records.delete(node)) this.#goneAtMs.set(incarnationOf(node), this.#stage.nowMs)
      return
    }
    this.#records.set(node, status)
    this.#stage.sometimes("a leave is announced", status === "leaving")
    this.#stage.sometimes("a node is set down", status === "down")
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

  #place(id: string, value: Uint8Array | undefined, generation: number): void {
    const before = this.#placed.get(id)
    if (value === undefined) {
      this.#placed.delete(id)
      this.#stage.sometimes("an actor is released", before !== undefined)
      return
    }
    const node = Buffer.from(value).toString("latin1")
    this.#placed.set(id, node)
    const claims = this.#claims.get(id) ?? []
    this.#claims.set(id, claims)
    claims.push({ generation, node, atMs: this.#stage.nowMs })
    this.#stage.record({ kind: "claimed", id, node, generation, status: this.#records.get(node) ?? "gone" })
    this.#stage.sometimes("an actor is taken over", before !== undefined && before !== node)
    this.#stage.sometimes("a node claims again what is its own", before === node)
  }

  #wrote(id: string, value: Uint8Array): void {
    this.#stage.record({ kind: "wrote", id, ...readState(value), latest: this.latest(id) })
  }

  #bare(key: string): string {
    return key.slice(this.#prefix.length)
  }
}

export interface ClaimMade {
  readonly generation: number
  readonly node: string
  readonly atMs: number
}

/** What no two lives of any node have in common. */
export function incarnationOf(node: string): string {
  return node.slice(node.lastIndexOf("#") + 1)
}

function touch(touched: Set<string>, key: string, prefix: string): string {
  const node = key.slice(prefix.length)
  touched.add(node)
  return node
}
