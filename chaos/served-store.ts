import type { StoreOptions } from "../tools/store-options.js"
import type { ChaosServer, ChaosStore } from "./chaos-store.js"
import { STORE } from "./chaos-store.js"
import type { Cuts } from "./cuts.js"
import { Relay } from "./relay.js"

/** A server of `tools/engines`. */
export interface EngineServer {
  readonly port: number
  stop(): Promise<void>
  kill(): Promise<void>
  restart(): Promise<void>
  pause(): Promise<void>
  resume(): Promise<void>
  remove(): Promise<void>
}

/** A store that is a server. */
export class ServedStore implements ChaosStore {
  readonly server: ChaosServer
  readonly #engine: EngineServer
  readonly #relays: ReadonlyMap<string, Relay>
  readonly #optionsAt: (port: number) => StoreOptions

  /** There is a relay between it and each of those who use it. `optionsAt` tells how it is reached by a port. */
  static async relayed(
    engine: EngineServer,
    { names, cuts }: { readonly names: readonly string[]; readonly cuts: Cuts },
    optionsAt: (port: number) => StoreOptions,
  ): Promise<ServedStore> {
    const relays = new Map<string, Relay>()
    for (const name of names) {
      // Each has its own, so whoever dials is the one.
      const relay = await Relay.open(STORE, cuts, () => name)
      relay.sendOnTo(engine.port)
      relays.set(name, relay)
    }
    return new ServedStore(engine, optionsAt, relays)
  }

  /** Without relays, it is reached where it listens. */
  constructor(
    engine: EngineServer,
    optionsAt: (port: number) => StoreOptions,
    relays: ReadonlyMap<string, Relay> = new Map(),
  ) {
    this.#engine = engine
    this.#relays = relays
    this.#optionsAt = optionsAt
    this.server = {
      end: (how) => (how === "kill" ? engine.kill() : engine.stop()),
      start: () => engine.restart(),
      reset: (name) => relays.get(name)?.reset(name),
    }
  }

  optionsFor(name: string): StoreOptions {
    return this.#optionsAt(this.#relays.get(name)?.port ?? this.#engine.port)
  }

  /** A client of a server holds no lock between its requests. */
  async mayFreeze(): Promise<boolean> {
    return true
  }

  pause(): Promise<void> {
    return this.#engine.pause()
  }

  resume(): Promise<void> {
    return this.#engine.resume()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#relays.values()].map((relay) => relay.close()))
    await this.#engine.remove()
  }
}
