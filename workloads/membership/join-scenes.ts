import { awaitAgreement } from "./agreement.js"
import { checkSpared, type Scene } from "./scene.js"
import { joinedMs } from "./terms.js"

/** Nodes join, two of them at once, while another one leaves as planned and comes back later. */
export const comeAndGo: Scene = {
  needs: {},
  places: ["two nodes join at once", "a node leaves while others join", "a node that has left comes back"],
  async play(town) {
    const { stage, terms, inhabited } = town
    const { random } = stage
    const sinceMs = stage.nowMs
    const joiners = stage.knob("joiners", [1, 2])
    const leaver = random.chance(0.7) ? random.pick(inhabited) : undefined
    const former = leaver === undefined ? undefined : town.nodeOn(leaver)
    const leaving = async () => {
      if (leaver === undefined) return
      await stage.sleep(random.between(0, 2_000))
      await town.leave(leaver)
    }
    const left = leaving()
    for (let joiner = 0; joiner < joiners; joiner += 1) town.settle()
    await left
    await awaitAgreement(town, {
      name: "all agree after nodes have come and gone",
      withinMs: joinedMs(terms),
    })
    stage.sometimes("two nodes join at once", joiners === 2)
    if (leaver !== undefined) {
      stage.sometimes("a node leaves while others join")
      const ends = town.toldSince(sinceMs, "left", "removed", "downed").filter(({ node }) => node === former)
      stage.always(
        "a node that leaves has left, and is not declared down",
        ends.length > 0 && ends.every(({ what }) => what === "left"),
        () =>
          ends.map(({ by, what }) => `${by} tells that it has ${what}`).join("; ") || "nobody tells of it",
      )
      town.comeBack(leaver)
      await awaitAgreement(town, {
        name: "all agree after nodes have come and gone",
        withinMs: joinedMs(terms),
      })
      stage.sometimes("a node that has left comes back")
    }
    checkSpared(town, sinceMs, leaver === undefined ? [] : [leaver])
  },
}
