import type { Change, Entry } from "../../src/ports/store.js"
import { decodeRecord, NODES } from "../../src/registry/node-record.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import type { Life } from "../../src/sim/index.js"
import { toldOf } from "./door-ledger.js"
import type { Door } from "./events.js"
import { type Author, authorOf, STATE } from "./kept-state.js"
import type { RegistryShow } from "./show.js"
import { incarnationOf } from "./store-history.js"
import type { TappedClock } from "./tapped-clock.js"
import type { StoreTap } from "./tapped-store.js"

/** Tells the invariants what passes between a node and its store. */
export class HostTap implements StoreTap {
  readonly #name: string
  readonly #life: Life
  readonly #show: RegistryShow
  readonly #clock: TappedClock
  /** The writes whose answers were lost. */
  readonly #open = new Set<string>()
  /** The node was told of a placement. */
  placementTold: (id: string) => void = () => {}

  constructor(
    name: string,
    { life, show, clock }: { readonly life: Life; readonly show: RegistryShow; readonly clock: TappedClock },
  ) {
    this.#name = name
    this.#life = life
    this.#show = show
    this.#clock = clock
  }

  /** The door was asked in this step; when in it, is not known. */
  saving(id: string, { generation, incarnation }: Author): void {
    const { wasSetBack } = this.#clock
    const door: Door = {
      kind: "door",
      what: "save",
      id,
      generation,
      incarnation,
      atMs: this.#show.stepMs(),
      wasSetBack,
      memory: undefined,
    }
    this.#life.record({ ...door })
  }

  saved({ writeId }: Author, result: Parameters<StoreTap["saved"]>[1]): void {
    const wasOpen = this.#open.has(writeId)
    if (result === "unknown") this.#open.add(writeId)
    this.#life.sometimes(
      "a save whose answer was lost is sent again, and made",
      wasOpen && result === "committed",
    )
    this.#life.sometimes(
      "a save whose answer was lost is sent again, and refused",
      wasOpen && result === "refused",
    )
  }

  changed(prefix: string, changes: readonly Change[]): void {
    for (const { key, value } of changes) {
      if (prefix === PLACEMENTS) this.placementTold(key.slice(PLACEMENTS.length))
      if (prefix !== NODES) continue
      if (value === undefined) this.#cleared()
      const node = key.slice(NODES.length)
      if (!node.startsWith(`${this.#life.host}:`)) continue
      const status = value === undefined ? "gone" : decodeRecord(value)?.status
      if (status !== "down" && status !== "gone") continue
      this.#life.record({ ...toldOf(node, status, this.#life.trueMs()) })
      if (status === "gone") this.#life.record({ kind: "stopped", incarnation: incarnationOf(node) })
    }
  }

  gap(prefix: string): void {
    if (prefix === PLACEMENTS || prefix === NODES) this.#cleared()
  }

  looked(key: string, entry?: Entry): void {
    if (key === PLACEMENTS || key === NODES) this.#cleared()
    if (entry === undefined || !key.startsWith(STATE)) return
    const isFound = this.#open.has(authorOf(entry.value).writeId)
    this.#life.sometimes("a save whose answer was lost is found in the store", isFound)
  }

  #cleared(): void {
    this.#life.record({ kind: "cache-cleared", who: this.#name })
  }
}
