import { afterEach, expect } from "vitest"
import type { ActorSystemSettings } from "../../../src/index.js"
import type { Ports } from "../../../src/ports/ports.js"
import { HonestPeer } from "./honest-peer.js"
import { RawPeer } from "./raw-peer.js"
import { SECRET, WatchedNode } from "./watched-node.js"

/** A node under attack, with an honest peer that it has to serve all the while. */
export interface Siege {
  readonly node: WatchedNode
  readonly honest: HonestPeer
  /** Fails if a line of the log so far carries the secret or tells of a defect; lets go of the lines. */
  checkLog(): void
  /** A stranger's connection. */
  stranger(): Promise<RawPeer>
  /** The connection of somebody who knows the secret. */
  insider(terms?: Parameters<typeof RawPeer.admitted>[1]): Promise<RawPeer>
}

/**
 * Begins a siege for the tests of a file. When a test is over the node must still serve its honest peer, who has been
 * answered every time; no frame may have met a defect, nothing been thrown past the node, no prototype changed, and no line of the log carry the secret.
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

/** The secret, or its bytes in the ways in which bytes are printed. */
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
