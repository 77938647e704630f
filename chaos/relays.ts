import { freePort } from "../tools/free-port.js"
import { type Place, serverNameOf } from "./cluster-settings.js"
import type { Cuts } from "./cuts.js"
import { diallerOf } from "./dialler.js"
import { Relay } from "./relay.js"
import type { Wiring } from "./wiring.js"

/** All are on the loopback interface, with a relay before each. */
export class Relays implements Wiring {
  readonly #relays: ReadonlyMap<string, Relay>

  static async open(names: readonly string[], cuts: Cuts): Promise<Relays> {
    const byServerName = new Map(names.map((name) => [serverNameOf(name), name]))
    const relays = new Map<string, Relay>()
    for (const name of names) {
      const relay = await Relay.open(name, cuts, (heard) => {
        const dialler = diallerOf(heard)
        return dialler === undefined ? undefined : (byServerName.get(dialler) ?? "stranger")
      })
      relays.set(name, relay)
    }
    return new Relays(relays)
  }

  private constructor(relays: ReadonlyMap<string, Relay>) {
    this.#relays = relays
  }

  async placeOf(name: string): Promise<Place> {
    const relay = this.#relays.get(name) as Relay
    const port = await freePort()
    relay.sendOnTo(port)
    return { host: "127.0.0.1", port, advertised: relay.port, hasDeathProof: true }
  }

  commandAt(): readonly string[] {
    return []
  }

  reset(from: string, to: string): void {
    this.#relays.get(to)?.reset(from)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#relays.values()].map((relay) => relay.close()))
  }
}
