import { binaryCodec } from "../../src/index.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import { decodeState } from "../../src/registry/stored-state.js"
import { TypeRegistry } from "../../src/serialization/type-registry.js"
import type { SimStore, SimStoreEvent, Stage } from "../../src/sim/index.js"
import { ClaimTimes } from "../claim-times.js"
import { type AccountState, OPENING_BALANCE } from "./account.js"
import type { Order, TransferState } from "./transfer.js"

/** What is in the store: tells the invariants of every state in the moment in which it is committed. */
export class Vault {
  readonly claims = new ClaimTimes()
  readonly #stage: Stage
  readonly #prefix: string
  /** The node and the generation of each id that has a placement. */
  readonly #placed = new Map<string, { readonly node: string; readonly generation: number }>()
  /** Of each account that was ever saved. */
  readonly #balances = new Map<string, number>()

  constructor(stage: Stage, store: SimStore, namespace: string) {
    this.#stage = stage
    this.#prefix = `${namespace}/`
    store.observe((event) => this.#take(event))
  }

  /** The latest generation that was ever claimed. */
  latest(id: string): number {
    return this.claims.latest(id)
  }

  balances(accounts: readonly string[]): readonly number[] {
    return accounts.map((account) => this.#balances.get(account) ?? OPENING_BALANCE)
  }

  #take(event: SimStoreEvent): void {
    if (event.kind === "cut") return
    const { result, commit } = event
    if (result.kind === "refused") {
      const isSave = commit.writes.some(({ key }) => this.#bare(key).startsWith(STATE))
      const isMoved = result.found.some(({ key }) => this.#bare(key).startsWith(PLACEMENTS))
      this.#stage.sometimes("a stale save is refused", isSave && isMoved)
    }
    if (result.kind !== "committed") return
    for (const write of commit.writes) {
      const key = this.#bare(write.key)
      const value = write.kind === "put" ? write.value : undefined
      if (key.startsWith(PLACEMENTS)) this.#place(key.slice(PLACEMENTS.length), value, result.revision)
      else if (key.startsWith(STATE) && value !== undefined) this.#write(key.slice(STATE.length), value)
    }
  }

  #place(id: string, value: Uint8Array | undefined, generation: number): void {
    const before = this.#placed.get(id)
    this.#placed.delete(id)
    if (value === undefined) return
    const node = Buffer.from(value).toString("latin1")
    this.#placed.set(id, { node, generation })
    this.claims.add(id, generation, this.#stage.nowMs)
    const isTakenOver = before !== undefined && before.node !== node
    this.#stage.sometimes("an actor is taken over from a node that is gone", isTakenOver)
  }

  #write(id: string, bytes: Uint8Array): void {
    const { writeId, value } = decodeState(bytes)
    const generation = Number(writeId.split(".")[1])
    const state = codec.decode(Buffer.from(value), 0, value.length)
    const written = { id, generation, placedAt: this.#placed.get(id)?.generation }
    const [type, key = ""] = id.split("/")
    if (type === "Account") {
      const account = state as AccountState
      this.#balances.set(key, account.balance)
      this.#stage.record({ kind: "account-written", ...written, ...account, account: key })
    } else {
      const { order, progress } = state as TransferState & { readonly order: Order }
      this.#stage.record({ kind: "transfer-written", ...written, order, progress })
    }
  }

  #bare(key: string): string {
    return key.slice(this.#prefix.length)
  }
}

/** Where the registry keeps states. */
const STATE = "state/"

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
