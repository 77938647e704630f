import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import type { SimStore, SimStoreEvent, Stage } from "../../src/sim/index.js"
import { ClaimTimes } from "../claim-times.js"
import type { Acked, BurstEvent, TurnBegan } from "./events.js"

/** What must hold of items however much is asked of them, and whatever happens to their nodes. */
export class ItemLedger {
  readonly #claims = new ClaimTimes()
  readonly #prefix: string
  readonly #kept = new Map<string, number>()
  readonly #activations = new Set<string>()
  #attempts = 0

  constructor(stage: Stage, store: SimStore, namespace: string) {
    this.#prefix = `${namespace}/${PLACEMENTS}`
    store.observe((event) => this.#take(event, stage.nowMs))
    stage.invariant<BurstEvent>("SingleActivation", (event) =>
      event.kind === "turn" ? this.#single(event) : false,
    )
    stage.invariant<BurstEvent>("NoAckedLoss", (event) => {
      if (event.kind === "acked") this.#acked(event)
      return event.kind === "turn" ? this.#upToDate(event) : false
    })
  }

  /** How often an actor was to be claimed, whatever came of it. */
  get attempts(): number {
    return this.#attempts
  }

  /** How many have had a turn. */
  get activations(): number {
    return this.#activations.size
  }

  #take(event: SimStoreEvent, nowMs: number): void {
    if (event.kind === "cut") return
    const [write] = event.commit.writes
    if (write?.kind !== "put" || !write.key.startsWith(this.#prefix)) return
    this.#attempts += 1
    const { result } = event
    if (result.kind === "committed") {
      this.#claims.add(write.key.slice(this.#prefix.length), result.revision, nowMs)
    }
  }

  #single({ id, generation }: TurnBegan): string | undefined {
    this.#activations.add(`${id} ${generation}`)
    const latest = this.#claims.latest(id)
    if (latest <= generation) return undefined
    return `a turn of ${id} begins at generation ${generation}, and generation ${latest} has been claimed`
  }

  #acked({ id, kept }: Acked): void {
    this.#kept.set(id, Math.max(this.#kept.get(id) ?? 0, kept))
  }

  #upToDate({ id, generation, kept }: TurnBegan): string | undefined | false {
    if (generation !== this.#claims.latest(id)) return false
    const acked = this.#kept.get(id) ?? 0
    return kept >= acked
      ? undefined
      : `a turn of ${id} begins with ${kept} saves, and ${acked} were acknowledged`
  }
}
