import { binaryCodec } from "../../src/index.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import { decodeState } from "../../src/registry/stored-state.js"
import { TypeRegistry } from "../../src/serialization/type-registry.js"
import type { SimStore, SimStoreEvent, Stage } from "../../src/sim/index.js"
import { ClaimTimes } from "../claim-times.js"
import type { Kept } from "./performers.js"
import { generationOf, STATE } from "./tapped-store.js"

/** Tells the invariants of every claim and every state in the moment in which it is committed. */
export class StoreHistory {
  readonly claims = new ClaimTimes()
  readonly #stage: Stage
  readonly #prefix: string
  readonly #placed = new Map<string, string>()

  constructor(stage: Stage, store: SimStore, namespace: string) {
    this.#stage = stage
    this.#prefix = `${namespace}/`
    store.observe((event) => this.#take(event))
  }

  latest(id: string): number {
    return this.claims.latest(id)
  }

  #take(event: SimStoreEvent): void {
    if (event.kind === "cut") return
    const { result, commit } = event
    if (result.kind === "refused") return this.#refused(event)
    if (result.kind !== "committed") return
    for (const write of commit.writes) {
      const key = write.key.slice(this.#prefix.length)
      const value = write.kind === "put" ? write.value : undefined
      if (key.startsWith(PLACEMENTS)) this.#place(key.slice(PLACEMENTS.length), value, result.revision)
      else if (key.startsWith(STATE) && value !== undefined) {
        const ops = keptOf(value).ops
        this.#stage.record({
          kind: "wrote",
          id: key.slice(STATE.length),
          generation: generationOf(value),
          ops,
        })
      }
    }
  }

  #refused({ commit, result }: Extract<SimStoreEvent, { kind: "judged" }>): void {
    const found = result.kind === "refused" ? result.found : []
    const about = (prefix: string) => commit.writes.some(({ key }) => key.startsWith(this.#prefix + prefix))
    const isMoved = found.some(({ key }) => key.startsWith(this.#prefix + PLACEMENTS))
    this.#stage.sometimes("a stale save is refused", about(STATE) && isMoved)
    this.#stage.sometimes("a race is lost", about(PLACEMENTS) && commit.writes[0]?.kind === "put" && isMoved)
  }

  #place(id: string, value: Uint8Array | undefined, generation: number): void {
    const before = this.#placed.get(id)
    if (value === undefined) {
      this.#placed.delete(id)
      return
    }
    const node = Buffer.from(value).toString("latin1")
    this.#placed.set(id, node)
    this.claims.add(id, generation, this.#stage.nowMs)
    this.#stage.record({ kind: "claimed", id, node, generation })
    this.#stage.sometimes(
      "an actor is taken over from a node that is gone",
      before !== undefined && before !== node,
    )
  }
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

function keptOf(bytes: Uint8Array): Kept {
  const { value } = decodeState(bytes)
  return codec.decode(Buffer.from(value), 0, value.length) as Kept
}
