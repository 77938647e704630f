import { awaitAgreed } from "./network-scenes.js"
import { checkSpared, type Scene } from "./scene.js"
import { DRIFT_MARGIN, decidedMs, silentMs, sparing } from "./terms.js"
import type { Inhabitant, Town } from "./town.js"

/**
 * A node reaches the store and none of its peers: it loses its actors to nodes that can be called, and
 * neither joins again nor hosts anything before it has met one of them.
 */
export const storeAlone: Scene = {
  needs: { by: "store", fewest: 3, strategies: sparing },
  places: ["a node that reaches the store alone loses its actors", "a node hosts again that has met a peer"],
  async play(town) {
    const { stage, terms, inhabited } = town
    const machine = stage.random.pick(inhabited)
    const others = inhabited.filter((other) => other !== machine)
    const own = stage.hostOf(machine)
    for (const key of KEYS) {
      const at = await callOn(town, machine, key)
      stage.always("an actor is where it is first called", at === own, () => `${key} is at ${at}`)
    }
    const sinceMs = stage.nowMs
    town.cutBetween([machine], others)
    const { stableAfterMs, ttlMs } = terms
    const slackMs = ttlMs + 2_000
    await stage.sleep(silentMs(terms, false) + 1.2 * stableAfterMs + ttlMs * (1 + DRIFT_MARGIN) + slackMs)
    const other = stage.random.pick(others)
    for (const key of KEYS) {
      const at = await callOn(town, other, key)
      stage.always(
        "the actors of a node without peers are served by another one in time",
        at !== undefined && at !== own,
        () => `${other} calls ${key}, and gets ${at}`,
      )
    }
    stage.sometimes("a node that reaches the store alone loses its actors")
    for (let look = 0; look < 10; look += 1) {
      const hosted = town.systemOn(machine)?.health().activations ?? 0
      stage.always(
        "a node without peers hosts nothing",
        hosted === 0,
        () => `${machine} hosts ${hosted} actors`,
      )
      void callOn(town, machine, `new-${look}`)
      await stage.sleep(decidedMs(terms) / 10)
    }
    const returns = town.toldSince(sinceMs, "rejoined").filter(({ by }) => by === machine)
    stage.always(
      "a node that was declared down does not join again before it hears a peer",
      returns.length === 0,
      () => `${machine} has joined again as ${returns.map(({ node }) => node)}`,
    )
    stage.heal()
    await awaitAgreed(town)
    const at = await callOn(town, machine, "after")
    stage.always("a node hosts again once it has met a peer", at === own, () => `the actor is at ${at}`)
    stage.sometimes("a node hosts again that has met a peer")
    checkSpared(town, sinceMs, [machine])
  },
}

const KEYS = ["a", "b", "c"]

/** Returns the host that an actor is on, as it says itself; the code of the error if there is no answer. */
async function callOn(town: Town, machine: string, key: string): Promise<string | undefined> {
  return town.on(machine, async (system) => {
    try {
      return await system.actor<Inhabitant>("Inhabitant", key).whereabouts()
    } catch (error) {
      return (error as { readonly code?: string }).code
    }
  })
}
