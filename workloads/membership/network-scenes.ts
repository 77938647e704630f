import { decodeRecord, NODES } from "../../src/registry/node-record.js"
import { awaitAgreement } from "./agreement.js"
import { checkSpared, type Scene } from "./scene.js"
import { type Inhabitant, survivingSide } from "./surviving-side.js"
import { decidedMs, joinedMs, sparing } from "./terms.js"
import type { Town } from "./town.js"

/** The machines are on two or three sides, until each side has decided what becomes of it. */
export const partition: Scene = {
  needs: {},
  places: [
    "a side survives a partition",
    "no side survives a partition",
    "a partition has three sides",
    "the side without the first seed survives",
    "a loser comes back",
  ],
  async play(town) {
    const { stage, terms, inhabited } = town
    const sides = drawSides(town)
    const survivors = survivingSide(terms, sides)?.map(({ machine }) => machine) ?? []
    const before = new Map(inhabited.map((machine) => [machine, town.nodeOn(machine)]))
    const sinceMs = stage.nowMs
    stage.note(
      `sides ${sides.map((side) => side.map(({ machine }) => machine)).join(" | ")}, to survive: ${survivors}`,
    )
    if (terms.by === "store") watchRecords(town, new Set(survivors.map((machine) => before.get(machine))))
    for (const [at, side] of sides.entries()) {
      for (const other of sides.slice(at + 1)) town.cutBetween(side.map(machineOf), other.map(machineOf))
    }
    stage.sometimes("a partition has three sides", sides.length === 3)
    await stage.sleep(decidedMs(terms))
    const ended = new Set(town.toldSince(sinceMs, "fenced").map(({ node }) => node))
    // With a store all sides see who gives up first, and the last one may go on: the store decides, so it may.
    const isOpen = terms.by === "store" && survivors.length === 0
    for (const machine of isOpen ? [] : inhabited) {
      const node = before.get(machine) as string
      const isExpected = survivors.includes(machine)
      stage.always(
        "the side survives that the strategy names, and no other",
        ended.has(node) !== isExpected,
        () =>
          `${node} on ${machine} is ${ended.has(node) ? "over" : "a member"}, to survive were ${survivors}`,
      )
    }
    const losers = inhabited.filter((machine) => !survivors.includes(machine))
    for (const machine of terms.by === "seeds" ? losers : []) {
      const isMember = town.systemOn(machine)?.health().isReady
      stage.always(
        "no side that has lost forms another cluster",
        isMember === false,
        () => `${machine} is a member`,
      )
    }
    stage.sometimes("a side survives a partition", survivors.length > 0)
    stage.sometimes("no side survives a partition", survivors.length === 0)
    stage.sometimes(
      "the side without the first seed survives",
      terms.by === "seeds" && survivors.length > 0 && !survivors.includes("m0"),
    )
    for (const machine of survivors) {
      const members = town.systemOn(machine)?.cluster.members ?? []
      const lost = members.find(
        ({ node, status }) =>
          status === "up" && [...before].some(([at, id]) => id === node.text && !survivors.includes(at)),
      )
      stage.always(
        "a survivor has the others as down",
        lost === undefined,
        () => `${machine} has ${lost?.node} as up`,
      )
    }
    const healedMs = stage.nowMs
    stage.heal()
    await awaitAgreed(town)
    stage.sometimes("a loser comes back", town.toldSince(healedMs, "rejoined").length > 0)
  },
}

/** The machines are on two or three sides for so long that it is noticed, and not for long enough to decide. */
export const shortPartition: Scene = {
  needs: {},
  places: ["a short partition is noticed"],
  async play(town) {
    const { stage } = town
    const sides = drawSides(town)
    const sinceMs = stage.nowMs
    for (const [at, side] of sides.entries()) {
      for (const other of sides.slice(at + 1)) town.cutBetween(side.map(machineOf), other.map(machineOf))
    }
    // Nobody is unreachable for the first 4.5 s, and stableAfterMs is at least 5 s.
    await stage.sleep(stage.random.between(5_000, 8_000))
    stage.heal()
    await awaitAgreed(town)
    stage.sometimes("a short partition is noticed", town.toldSince(sinceMs, "unreachable").length > 0)
    const [wrong] = town.toldSince(sinceMs, "downed", "removed", "fenced")
    stage.always(
      "nobody is downed before the time of stability",
      wrong === undefined,
      () => `${wrong?.by} tells that ${wrong?.node} is ${wrong?.what} ${wrong?.because}`,
    )
  },
}

/** One node has a bad network: it hears nothing, or nobody hears it, or its links fail now and then. */
export const badNetwork: Scene = {
  needs: { fewest: 3, strategies: sparing },
  places: ["a node is deaf", "a node is mute", "a node is lossy", "a node with a bad network is downed"],
  async play(town) {
    const { stage, terms, inhabited } = town
    const { random } = stage
    const bad = random.pick(inhabited)
    const others = inhabited.filter((machine) => machine !== bad)
    const how = stage.knob("badness", ["deaf", "mute", "lossy"] as const)
    const sinceMs = stage.nowMs
    stage.sometimes(`a node is ${how}`)
    if (how === "deaf") for (const other of others) stage.cut(other, bad)
    if (how === "mute") for (const other of others) stage.cut(bad, other)
    const untilMs = sinceMs + decidedMs(terms)
    while (stage.nowMs < untilMs) {
      if (how === "lossy") {
        const other = random.pick(others)
        const heal = random.chance(0.5) ? stage.cut(bad, other) : stage.cut(other, bad)
        void stage.sleep(random.between(100, 15_000)).then(heal)
      }
      await stage.sleep(random.between(50, 3_000))
    }
    stage.heal()
    stage.sometimes(
      "a node with a bad network is downed",
      town.toldSince(sinceMs, "fenced").some(({ by }) => by === bad),
    )
    await awaitAgreed(town)
    checkSpared(town, sinceMs, [bad])
  },
}

/** The link between two nodes fails, for long or again and again, while both reach all others. */
export const badLink: Scene = {
  needs: { fewest: 3 },
  places: ["a link is cut for long", "a link is flapping", "a link is cut one way"],
  async play(town) {
    const { stage, terms, inhabited } = town
    const { random } = stage
    const a = random.pick(inhabited)
    const b = random.pick(inhabited.filter((machine) => machine !== a))
    const how = stage.knob("badness", ["cut for long", "flapping", "cut one way"] as const)
    const sinceMs = stage.nowMs
    stage.sometimes(`a link is ${how}`)
    const untilMs = sinceMs + decidedMs(terms)
    if (how === "cut for long") town.cutBetween([a], [b])
    if (how === "cut one way") stage.cut(a, b)
    while (stage.nowMs < untilMs) {
      await stage.sleep(random.between(50, 5_000))
      if (how !== "flapping") continue
      const heal = town.cutBetween([a], [b])
      await stage.sleep(random.between(50, 8_000))
      heal()
    }
    stage.heal()
    await awaitAgreed(town)
    checkSpared(town, sinceMs, [])
  },
}

function drawSides(town: Town): readonly (readonly Inhabitant[])[] {
  const { stage, inhabited } = town
  const { random } = stage
  const members = town.systemOn("m0")?.cluster.members ?? []
  const all = inhabited.map((machine) => {
    const host = stage.hostOf(machine)
    const age = members.find(({ node }) => node.host === host)?.age as number
    return { machine, host, age }
  })
  const count = all.length > 2 && random.chance(0.25) ? 3 : 2
  for (;;) {
    const sides: Inhabitant[][] = Array.from({ length: count }, () => [])
    for (const each of all) random.pick(sides).push(each)
    if (sides.every((side) => side.length > 0)) return sides
  }
}

/** No record of a survivor is ever set down. */
function watchRecords({ stage }: Town, survivors: ReadonlySet<string | undefined>): void {
  const prefix = `town/${NODES}`
  stage.store().observe((event) => {
    if (event.kind !== "judged" || event.result.kind !== "committed") return
    for (const write of event.commit.writes) {
      if (!write.key.startsWith(prefix) || write.kind !== "put") continue
      const node = write.key.slice(prefix.length)
      if (decodeRecord(write.value)?.status !== "down") continue
      stage.always(
        "only the records of losers are set down",
        !survivors.has(node),
        () => `${node} is set down`,
      )
    }
  })
}

function machineOf({ machine }: Inhabitant): string {
  return machine
}

/** All can reach each other from now on. */
export async function awaitAgreed(town: Town): Promise<void> {
  const { terms } = town
  await awaitAgreement(town, {
    name: "all agree once the network is whole",
    withinMs: 2 * decidedMs(terms) + 2 * joinedMs(terms) + 22_000,
  })
}
