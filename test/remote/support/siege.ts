import { afterEach, expect } from "vitest"
import type { ActorSystemSettings } from "../../../src/index.js"
import type { Ports } from "../../../src/ports/ports.js"
import { HonestPeer } from "./honest-peer.js"
import { RawPeer } from "./raw-peer.js"
import { SECRET, WatchedNode } from "./watched-node.js"

/** A node under attack, with an honest peer that it has to serve meanwhile. */
export interface Siege {
  readonly node: WatchedNode
  readonly honest: HonestPeer
  /** Fails if a log line so far contains the secret or reports a defect; then discards the lines. */
  checkLog(): void
  /** Opens a connection of a peer that does not know the secret. */
  stranger(): Promise<RawPeer>
  /** Opens a connection of a peer that knows the secret. */
  insider(terms?: Parameters<typeof RawPeer.admitted>[1]): Promise<RawPeer>
}

/**
 * Starts a node under attack for the tests of a file. After each test the node must still serve its honest peer, every
 * question of which was answered; no defect was logged, no error was uncaught, no prototype was changed, and no log line
 * contains the secret.
 */
export function sieges(): (
  settings?: Partial<ActorSystemSettings>,
  ports?: Partial<Ports>,
) => Promise<Siege> {
  const under: { readonly siege: Siege; readonly attackers: Set<RawPeer> }[] = []
  const thrown = collectThrown()
  const prototypes = shapeOfPrototypes()
  afterEach(async () => {
    for (const { siege, attackers } of under.splice(0)) {
      const { node, honest } = siege
      await honest.more(5).catch((error: unknown) => honest.failures.push(error))
      for (const attacker of attackers) attacker.destroy()
      await honest.stop()
      await node.stop()
      expect(honest.failures).toEqual([])
      expect(honest.answered).toBeGreaterThan(5)
      expect(shapeOfPrototypes()).toEqual(prototypes)
      siege.checkLog()
    }
    expect(thrown.splice(0)).toEqual([])
  })
  return async (settings, ports) => {
    const node = await WatchedNode.start(settings, ports)
    const honest = await HonestPeer.start(node)
    const attackers = new Set<RawPeer>()
    const kept = (peer: RawPeer) => {
      attackers.add(peer)
      peer.socket.once("close", () => attackers.delete(peer))
      return peer
    }
    const siege: Siege = {
      node,
      honest,
      checkLog: () => {
        expect(node.log.length).toBeGreaterThan(0)
        expect(node.log.filter((line) => line.includes("could not be dealt with"))).toEqual([])
        expect(linesWithSecret(node.log)).toEqual([])
        node.log.length = 0
      },
      stranger: async () => kept(await RawPeer.connect(node)),
      insider: async (terms) => kept(await RawPeer.admitted(node, terms)),
    }
    under.push({ siege, attackers })
    return siege
  }
}

/** Matches the secret, or its bytes in the formats in which bytes are printed. */
function linesWithSecret(log: readonly string[]): string[] {
  const bytes = Buffer.from(SECRET)
  const forms = [
    SECRET,
    bytes.toString("hex"),
    bytes.toString("base64"),
    [...bytes.subarray(0, 8)].join(", "),
    [...bytes.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join(" "),
  ]
  return log.filter((line) => forms.some((form) => line.includes(form)))
}

function collectThrown(): unknown[] {
  const thrown: unknown[] = []
  process.on("uncaughtExceptionMonitor", (error) => thrown.push(error))
  process.on("unhandledRejection", (error) => thrown.push(error))
  return thrown
}

function shapeOfPrototypes(): Record<string, PropertyKey[]> {
  const classes = { Object, Array, Map, Set, Error, Date, Function, Uint8Array, String, Number }
  return Object.fromEntries(
    Object.entries(classes).map(([name, { prototype }]) => [name, Reflect.ownKeys(prototype)]),
  )
}
