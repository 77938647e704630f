import type { Needs } from "./terms.js"
import type { Town } from "./town.js"

/** Something that happens to a town whose nodes agree, and what must follow from it. */
export interface Scene {
  readonly needs: Needs
  /** The places that it must reach in some seed, by the end of which they are counted. */
  readonly places: readonly string[]
  /** Whether the faults that the seed has drawn strike, too. Otherwise the scene is all that happens. */
  readonly isWild?: boolean
  play(town: Town): Promise<void>
}

/** Nothing has happened to any node but these since then. */
export function checkSpared(town: Town, sinceMs: number, victims: readonly string[]): void {
  const { stage } = town
  const hosts = victims.map((machine) => `${stage.hostOf(machine)}:`)
  const isVictim = (node: string) => hosts.some((host) => node.startsWith(host))
  for (const { what, by, node, because } of town.toldSince(sinceMs, "downed", "removed", "fenced")) {
    // What a node with a bad network takes the others for concerns nobody else, unless they are downed.
    if (what !== "fenced" && victims.includes(by)) continue
    stage.always(
      "nobody is downed, removed or fenced for the network of another",
      isVictim(node),
      () => `${by} tells that ${node} is ${what} ${because}`,
    )
  }
  for (const { by, node } of town.toldSince(sinceMs, "unreachable")) {
    if (victims.includes(by)) continue
    stage.always(
      "nobody is unreachable for the network of another",
      isVictim(node),
      () => `${by} tells that ${node} is unreachable`,
    )
  }
  stage.always("nobody is downed, removed or fenced for the network of another", true)
}
