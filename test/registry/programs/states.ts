import type { ActorId } from "../../../src/address/actor-id.js"
import { binaryCodec } from "../../../src/index.js"
import type { Clock } from "../../../src/ports/clock.js"
import type { ClusterStore, StoreProvider } from "../../../src/ports/store.js"
import { DurableState } from "../../../src/registry/durable-state.js"
import { stateKey } from "../../../src/registry/registry-keys.js"
import { StateCodecs } from "../../../src/registry/state-codecs.js"
import { decodeState } from "../../../src/registry/stored-state.js"
import type { Tenure } from "../../../src/registry/tenure.js"
import { nodeClock } from "../../../src/runtime/node-clock.js"
import { PLAIN } from "../plain-codec.js"

/** States of actors in the store that a system opens. */
export class StatesOf {
  readonly provider: StoreProvider
  readonly #clock: Clock
  #store: ClusterStore | undefined

  constructor(provider: StoreProvider, clock: Clock = nodeClock) {
    this.#clock = clock
    this.provider = {
      ...provider,
      open: async (namespace, ports) => {
        this.#store = await provider.open(namespace, ports)
        return this.#store
      },
    }
  }

  of(tenure: Tenure): DurableState {
    const stateFormat = () => 2
    const read = { codecs: new StateCodecs(codec), stateFormat, lowestVersion: () => undefined }
    const tools = { store: this.#opened(), clock: this.#clock, maxStateBytes: 1_000_000, ...read }
    return new DurableState(tenure, tools, { version: 0 })
  }

  /** The stored state, by whichever activation it was written. */
  async stored(id: ActorId): Promise<unknown> {
    const { entry } = await this.#opened().get(stateKey(id))
    return entry && storedValue(entry.value)
  }

  #opened(): ClusterStore {
    if (this.#store === undefined) throw new Error("the store has not been opened")
    return this.#store
  }
}

/** Of the bytes that the store has for a state. */
export function storedValue(bytes: Uint8Array): unknown {
  const value = Buffer.from(decodeState(bytes).value)
  return codec.decode(value, 0, value.length)
}

const codec = binaryCodec()(PLAIN)
