import { awaitAgreed } from "./network-scenes.js"
import type { Scene } from "./scene.js"
import { silentMs } from "./terms.js"

/** Processes stand still for up to 3 s, or their event loops do: nobody is suspected. */
export const pauses: Scene = {
  needs: { ttlMs: 9_000 },
  places: ["a process is paused", "an event loop is blocked"],
  async play(town) {
    const { stage, inhabited } = town
    const { random } = stage
    const sinceMs = stage.nowMs
    const untilMs = sinceMs + 60_000
    await Promise.all(
      inhabited.map(async (machine) => {
        for (;;) {
          await stage.sleep(random.between(1_500, 8_000))
          if (stage.nowMs > untilMs) return
          const ms = random.between(100, 3_000)
          const isPause = random.chance(0.5)
          stage.sometimes(isPause ? "a process is paused" : "an event loop is blocked")
          if (isPause) stage.pause(machine, ms)
          else stage.stall(machine, ms)
          await stage.sleep(ms)
        }
      }),
    )
    await stage.sleep(6_000)
    const [wrong] = town.toldSince(sinceMs, "unreachable", "downed", "removed", "fenced")
    stage.always(
      "nobody is suspected for a pause of 3 s",
      wrong === undefined,
      () => `${wrong?.by} tells that ${wrong?.node} is ${wrong?.what}`,
    )
  },
}

/** A node falls silent: all others notice it in time. */
export const silent: Scene = {
  needs: {},
  places: ["a node falls silent after a calm minute", "a node falls silent at any time"],
  async play(town) {
    const { stage, terms, inhabited } = town
    const { random } = stage
    const wasCalm = random.chance(0.5)
    await stage.sleep(wasCalm ? 65_000 : random.between(0, 20_000))
    const machine = random.pick(inhabited)
    const others = inhabited.filter((other) => other !== machine)
    const node = town.nodeOn(machine) as string
    const sinceMs = stage.nowMs
    stage.sometimes(`a node falls silent ${wasCalm ? "after a calm minute" : "at any time"}`)
    town.cutBetween([machine], others)
    const isDead = random.chance(0.5)
    if (isDead) town.crash(machine)
    await stage.sleep(silentMs(terms, wasCalm))
    // With a store a dead node may have gone before it is suspected, because its lease has ended.
    const noticed = town.toldSince(sinceMs, "unreachable", "removed").filter((each) => each.node === node)
    for (const other of others) {
      stage.always(
        "a silent node is unreachable in time",
        noticed.some(({ by }) => by === other),
        () => `${node} is silent, and ${other} does not know it`,
      )
    }
    stage.heal()
    if (isDead) stage.boot(machine)
    await awaitAgreed(town)
  },
}
