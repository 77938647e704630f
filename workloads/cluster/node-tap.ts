import { ActorId } from "../../src/index.js"
import type { Change, Commit, Entry } from "../../src/ports/store.js"
import { decodeRecord, NODES } from "../../src/registry/node-record.js"
import type { Registry } from "../../src/registry/registry.js"
import type { Life } from "../../src/sim/index.js"
import { IMPORTED } from "../../src/system/actor-import.js"
import type { Cluster } from "./cluster.js"
import type { Door } from "./events.js"
import { type Author, authorOf, generationOf, STATE } from "./store-history.js"
import { TappedClock } from "./tapped-clock.js"
import type { StoreTap } from "./tapped-store.js"

/**
 * Records what one system does: what its doors let through, what it hears from the store, and what it
 * believes.
 */
export class NodeTap implements StoreTap {
  /** Of the system: no two of a run have the same. */
  readonly name: string
  readonly life: Life
  readonly cluster: Cluster
  readonly clock: TappedClock
  /** The writes whose answers were lost. */
  readonly #open = new Set<string>()
  #registry: Registry | undefined

  constructor(name: string, life: Life, cluster: Cluster) {
    this.name = name
    this.life = life
    this.cluster = cluster
    this.clock = new TappedClock(life)
  }

  /** A door let something through; when that was decided, if it was not by the last reading of the clock. */
  passed(door: Pick<Door, "what" | "id" | "generation" | "isAwaited">, atMs = this.clock.readAtMs): void {
    const { what, id, generation, isAwaited } = door
    const { wasSetBack } = this.clock
    this.life.record({ kind: "door", what, id, generation, atMs, wasSetBack, isAwaited })
  }

  /** Follows what the registry of this system believes about placements. */
  follow(registry: Registry): void {
    this.#registry = registry
    const { forget, misdirected, read, register } = registry
    registry.forget = (id) => {
      forget.call(registry, id)
      this.life.record({ kind: "cache-dropped", who: this.name, id: id.name })
    }
    registry.misdirected = (id, epoch, where) => {
      misdirected.call(registry, id, epoch, where)
      this.life.sometimes("a node is told that its cache was wrong")
      this.#noteCached(id.name)
    }
    registry.read = (id) => this.#noted(id, read.call(registry, id))
    registry.register = (id) => this.#noted(id, register.call(registry, id))
  }

  #noted<T>(id: ActorId, asked: Promise<T>): Promise<T> {
    const note = () => this.#noteCached(id.name)
    asked.then(note, note)
    return asked
  }

  renewing(): void {
    this.cluster.onRenewal(this.life.name.split(".")[0] as string)
  }

  /**
   * The door was asked in this step; when in it, is not known. An import asks no door: it is refused by the
   * store if the actor runs again.
   */
  saving(id: string, commit: Commit, author: Author): void {
    if (author.writeId.startsWith(IMPORTED)) return
    const generation = generationOf(commit, this.cluster.recordOf(id)) ?? author.generation
    this.passed({ what: "save", id, generation }, this.cluster.stage.nowMs)
  }

  saved({ writeId }: Author, result: Parameters<StoreTap["saved"]>[1]): void {
    const wasOpen = this.#open.has(writeId)
    if (result === "unknown") this.#open.add(writeId)
    const { life } = this
    if (!wasOpen) return
    if (result === "committed") life.sometimes("a save whose answer was lost is sent again, and made")
    if (result === "refused") life.sometimes("a save whose answer was lost is sent again, and refused")
  }

  changed(prefix: string, changes: readonly Change[]): void {
    for (const { key, value } of changes) {
      if (prefix !== NODES) continue
      if (value === undefined) this.#cleared()
      const node = key.slice(NODES.length)
      if (!node.startsWith(`${this.life.host}:`)) continue
      const status = value === undefined ? "gone" : decodeRecord(value)?.status
      if (status !== "down" && status !== "gone") continue
      this.learned(node, status)
      if (status === "gone") this.life.record({ kind: "stopped", node })
    }
  }

  gap(prefix: string): void {
    if (prefix === NODES) this.#cleared()
  }

  looked(key: string, entry?: Entry): void {
    if (key === NODES) this.#cleared()
    if (entry === undefined || !key.startsWith(STATE)) return
    if (this.#open.has(authorOf(entry.value).writeId))
      this.life.sometimes("a save whose answer was lost is found in the store")
  }

  /** The node knows this of itself from now on. */
  learned(node: string, status: "leaving" | "down" | "gone"): void {
    this.life.record({ kind: "learned", node, status, atMs: this.life.trueMs() })
  }

  /** What the cache says of an actor by now. */
  #noteCached(id: string): void {
    const [type = "", key = ""] = id.split("/")
    const where = this.#registry?.cached(ActorId.of(this.cluster.namespace, type, key))
    if (where === undefined) return
    const revision = where.kind === "placed" ? where.generation : where.revision
    this.life.record({ kind: "cached", who: this.name, id, revision })
  }

  #cleared(): void {
    this.life.record({ kind: "cache-dropped", who: this.name })
  }
}
