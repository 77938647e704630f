import type { District } from "./district.js"
import { awaitRest } from "./rest.js"
import { agreedMs, removedMs, settledMs, type Terms } from "./terms.js"

/** Something that happens to a district at rest, and what must follow from it. */
export interface Scene {
  readonly needs: Partial<Terms>
  /** The places that it must reach in some seed. */
  readonly places: readonly string[]
  /** Whether no process dies and no connection is lost, so that every message must be handled. */
  readonly isPlanned?: boolean
  /** Whether asks may take longer than they have time. */
  readonly isSlow?: boolean
  /** Whether the faults that the seed has drawn strike, too. */
  readonly isWild?: boolean
  play(district: District): Promise<void>
}

/** Nodes come and go as planned. */
const comeAndGo: Scene = {
  needs: {},
  places: ["a node joins", "a node leaves", "the coordinator leaves"],
  isPlanned: true,
  async play(district) {
    const { stage, terms, inhabited } = district
    for (let count = stage.random.between(1, 4); count > 0; count -= 1) {
      await stage.sleep(stage.random.between(0, 5_000))
      if (inhabited.length > 2 && stage.random.chance(0.5)) {
        const machine = stage.random.pick(inhabited)
        stage.sometimes("the coordinator leaves", leaderOf(district) === machine)
        await district.leave(machine)
        stage.sometimes("a node leaves")
      } else {
        await joinOne(district)
        stage.sometimes("a node joins")
      }
      if (stage.random.chance(0.5))
        await awaitRest(district, "all settle after a planned change", restMs(terms))
    }
  },
}

/** One node joins a district at rest: no more than its share moves. */
const fewMoves: Scene = {
  needs: {},
  places: ["shards move to a node that joins"],
  isPlanned: true,
  async play(district) {
    const { stage, terms, inhabited } = district
    await useAll(district)
    await awaitRest(district, "all settle before a join", restMs(terms))
    const before = district.shardsStarted
    await joinOne(district)
    await awaitRest(district, "all settle after a join", restMs(terms))
    const moved = district.shardsStarted - before
    const share = Math.ceil(terms.shards / inhabited.length)
    stage.always(
      "after a join no more shards move than its share",
      moved <= share,
      () => `${moved} of ${share}`,
    )
    stage.sometimes("shards move to a node that joins", moved > 0)
  },
}

/**
 * Nodes send orders one after another while shards move, over connections that are slow for moments, so that
 * some are on their way at each step.
 */
const busy: Scene = {
  needs: { nodes: 3, shards: 8, entities: 20, turnMs: 0, passivates: 0, passivateAfterMs: undefined },
  places: ["orders are sent at every step of a handoff"],
  isPlanned: true,
  async play(district) {
    const { stage, inhabited } = district
    await useAll(district)
    const senders = [...inhabited]
    let isOver = false
    const joined = joinOne(district).then(() => stage.sleep(2_000))
    void joined.then(() => {
      isOver = true
    })
    let isMoving = false
    district.heard = (_machine, _way, { message }) => {
      isMoving ||= message.kind === "begin-hand-off"
    }
    while (!isOver) {
      await stage.sleep(stage.random.between(1, 8))
      const entity = `e${Math.floor(stage.random.between(0, district.terms.entities))}`
      const sender = stage.random.pick(senders)
      await district.on(sender, (node) => district.tell(node, entity))
      if (!stage.random.chance(0.15)) continue
      const heal = stage.cut(sender, stage.random.pick(senders.filter((machine) => machine !== sender)))
      void stage.sleep(stage.random.between(50, 400)).then(heal)
    }
    await joined
    stage.sometimes("orders are sent at every step of a handoff", isMoving)
  },
}

/** Entities take longer for their last turn than a handoff may take, so moves are abandoned. */
const slowEnd: Scene = {
  needs: { handOffMs: 2_000, passivateAfterMs: undefined },
  places: ["a move is abandoned"],
  isPlanned: true,
  isSlow: true,
  async play(district) {
    district.lastTurnMs = 9_000
    await useAll(district)
    await joinOne(district)
    await district.stage.sleep(20_000)
    district.lastTurnMs = 0
    district.stage.sometimes("a move is abandoned", district.movesAbandoned > 0)
  },
}

/** A node stops before its entities have ended, and its process goes on for a while, with their last turns. */
const leftBehind: Scene = {
  needs: { nodes: 3, drainMs: 3_000, passivateAfterMs: undefined },
  places: ["a node stops with entities that have not ended"],
  async play(district) {
    const { stage, inhabited } = district
    await useAll(district)
    district.lastTurnMs = 12_000
    await district.leave(stage.random.pick(inhabited), stage.random.between(1, 5_000))
    district.lastTurnMs = 0
    stage.sometimes("a node stops with entities that have not ended", district.leftBehind > 0)
  },
}

/** A node is killed at a step of a handoff: the coordinator, the home of the shard or the next one. */
const killedInHandOff: Scene = {
  needs: { nodes: 3 },
  places: steps().flatMap((step) => [`the coordinator is killed at ${step}`]),
  async play(district) {
    const { stage, terms } = district
    const step = stage.knob("step", steps())
    const victim = stage.knob("victim", ["coordinator", "coordinator", "coordinator", "other"] as const)
    await useAll(district)
    const machine = leaderOf(district)
    if (machine === undefined) return
    void joinOne(district)
    const isMade = await Promise.race([
      made(district, machine, step),
      stage.sleep(restMs(terms)).then(() => false),
    ])
    district.heard = () => {}
    if (!isMade) return
    const other = stage.random.pick(district.inhabited.filter((each) => each !== machine))
    stage.note(`kills the ${victim} at ${step}`)
    stage.sometimes(`the coordinator is killed at ${step}`, victim === "coordinator")
    district.crash(victim === "coordinator" ? machine : other)
    await stage.sleep(stage.random.between(100, 2 * removedMs(terms)))
  },
}

/** The coordinator is killed while another node is silent, which may have any shard. */
const silentRegion: Scene = {
  needs: { nodes: 5 },
  places: ["a coordinator recovers while a region is silent"],
  async play(district) {
    const { stage, terms } = district
    await useAll(district)
    const leader = leaderOf(district)
    if (leader === undefined) return
    const silent = stage.random.pick(district.inhabited.filter((machine) => machine !== leader))
    const others = district.inhabited.filter((machine) => machine !== silent)
    const heals = others.flatMap((other) => [stage.cut(silent, other), stage.cut(other, silent)])
    await stage.sleep(stage.random.between(0, 1_500))
    district.crash(leader)
    await stage.sleep(stage.random.between(6_000, removedMs(terms)))
    for (const heal of heals) heal()
    stage.sometimes("a coordinator recovers while a region is silent")
  },
}

/** The machines are on two sides for some time. */
const partition: Scene = {
  needs: {},
  places: ["a node is fenced", "a partition is short"],
  async play(district) {
    const { stage, terms, inhabited } = district
    const some = inhabited.filter(() => stage.random.chance(0.5))
    for (const a of some) {
      for (const b of inhabited.filter((machine) => !some.includes(machine))) {
        stage.cut(a, b)
        stage.cut(b, a)
      }
    }
    await stage.sleep(stage.random.between(500, 1.5 * removedMs(terms)))
    stage.heal()
    stage.sometimes("a node is fenced", district.hasFenced)
    stage.sometimes("a partition is short", !district.hasFenced)
  },
}

/** Whatever faults the seed has drawn strike for a minute, while nodes come and go. */
const nemesis: Scene = {
  needs: {},
  places: ["faults strike while nodes come and go"],
  isWild: true,
  async play(district) {
    const { stage } = district
    for (let count = 0; count < 4; count += 1) {
      await stage.sleep(stage.random.between(5_000, 20_000))
      if (stage.random.chance(0.3)) district.settle()
    }
    stage.sometimes("faults strike while nodes come and go")
  },
}

export const scenes = {
  comeAndGo,
  fewMoves,
  busy,
  slowEnd,
  leftBehind,
  killedInHandOff,
  silentRegion,
  partition,
  nemesis,
}

export type SceneName = keyof typeof scenes

/** The scenes to draw from, some of them more often than others because they have many variants. */
export function drawn(): readonly SceneName[] {
  return [
    ...(Object.keys(scenes) as SceneName[]),
    "comeAndGo",
    "busy",
    "killedInHandOff",
    "killedInHandOff",
    "nemesis",
  ]
}

export function restMs(terms: Terms): number {
  return agreedMs(terms) + settledMs(terms)
}

/** What is sent or received by a coordinator in a handoff, in order. */
function steps() {
  return [
    "begin-hand-off",
    "hand-off-acknowledged",
    "hand-off",
    "shard-stopped",
    "host-shard",
    "shard-hosted",
    "shard-home",
  ] as const
}

/** Resolves when the coordinator on this machine has sent or received that, some times into a handoff. */
async function made(district: District, machine: string, step: string): Promise<boolean> {
  let hasBegun = false
  let skipped = Math.floor(district.stage.random.between(0, 4))
  const isMade = await district.on(machine, () => {
    return new Promise<boolean>((resolve) => {
      district.heard = (heardBy, _way, { message }) => {
        hasBegun ||= message.kind === "begin-hand-off"
        if (!hasBegun || heardBy !== machine || message.kind !== step) return
        skipped -= 1
        if (skipped < 0) resolve(true)
      }
    })
  })
  return isMade === true
}

async function joinOne(district: District): Promise<void> {
  const { stage, terms } = district
  const machine = district.settle()
  const untilMs = stage.nowMs + agreedMs(terms)
  while (district.nodeOn(machine) === undefined && stage.nowMs < untilMs) await stage.sleep(100)
  district.begun(machine)
}

/** The machine of the node that leads. */
function leaderOf(district: District): string | undefined {
  const [first] = district.inhabited
  const leader = first === undefined ? undefined : district.nodeOn(first)?.system.cluster.leader
  return leader && district.machineOf(leader.text)
}

/** Asks every entity, so that all shards have a home. */
async function useAll(district: District): Promise<void> {
  const [machine = ""] = district.inhabited
  for (let number = 0; number < district.terms.entities; number += 1)
    await district.on(machine, (node) => district.ask(node, `e${number}`))
}
