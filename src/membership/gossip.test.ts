import { join } from "node:path"
import { expect, it } from "vitest"
import { GossipStage, idOf, storedMembers } from "../../test/fake/gossip-stage.js"

it("converses as recorded", async () => {
  const told = [
    joins(),
    founds(),
    doesNotFit(),
    misfitsJoinAtOnce(),
    joinAtOnce(),
    leaves(),
    leavesAndReturns(),
    leaderLeaves(),
    lastLeaves(),
    allLeaveButOneThatJoins(),
    diesAsItJoins(),
    goesDown(),
    rejoins(),
    welcomeIsLost(),
    answersTheOldOne(),
    staleMessage(),
    comesBackLate(),
    pruned(),
    strangers(),
    twoClusters(),
    twoWelcomes(),
    clusterIsGone(),
    firstSeedRestarts(),
    seedsRestart(),
    allRestart(),
    losesPartition(),
    noSideSurvives(),
    lonely(),
    unknown(),
    membersAreGone(),
    byTheStore(),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "gossip.golden.txt"),
  )
})

const HEAD = `Nodes gossip once a second. b2 is the second incarnation at the address b, and v3 the third
word of a node. "knows" tells what a node has after a round, if it has changed; the number after a
status counts the members in the order in which they became up.

  time  what happens                                         what is to be done
`

function joins(): string {
  const stage = new GossipStage("a node joins by a seed")
  stage.start("a1")
  stage.tick("a1")
  stage.now = 500
  stage.start("b1")
  stage.tick("b1")
  for (const now of [1_000, 1_500, 2_000]) {
    stage.now = now
    stage.tick(now % 1_000 === 0 ? "a1" : "b1")
  }
  return stage.text
}

function founds(): string {
  const stage = new GossipStage("only the first seed forms a cluster, once nobody has answered for 5 s")
  stage.start("b1", { seeds: ["a", "b"] })
  stage.rounds(8)
  stage.start("a1", { seeds: ["a", "b"] })
  stage.rounds(10)
  return stage.text
}

function doesNotFit(): string {
  const stage = new GossipStage("a node that does not fit is refused, and both sides know why")
  stage.start("a1", { about: { shards: { account: 10 } } })
  stage.tick("a1")
  stage.start("b1", { about: { codec: "binary" } })
  stage.tick("b1")
  stage.start("c1", { about: { shards: { account: 20 } } })
  stage.tick("c1")
  stage.start("d1", { about: { version: 2 } })
  stage.tick("d1")
  stage.tick("d1")
  return stage.text
}

function misfitsJoinAtOnce(): string {
  const stage = new GossipStage(
    "two that do not fit each other join at once by different seeds: the lower address stays",
  )
  formed(stage, "a1", "b1")
  stage.start("c1", { about: { shards: { account: 10 } } })
  stage.start("d1", { seeds: ["b"], about: { shards: { account: 20 } } })
  stage.holds = ({ message }) => message.kind === "sync"
  stage.tick("c1")
  stage.tick("d1")
  stage.note("what they have just sent to each other is lost")
  stage.holds = () => false
  stage.rounds(9)
  return stage.text
}

function joinAtOnce(): string {
  const stage = new GossipStage("two nodes join at once by different seeds")
  formed(stage, "a1", "b1")
  stage.start("d1", { seeds: ["b"] })
  stage.start("c1")
  stage.rounds(9)
  return stage.text
}

function leaves(): string {
  const stage = new GossipStage("a node leaves")
  formed(stage, "a1", "b1", "c1")
  stage.act("b1 leaves", "b1", (gossip) => gossip.leave(stage.now))
  stage.rounds(5)
  return stage.text
}

function leavesAndReturns(): string {
  const stage = new GossipStage("a node that has left is back before it is removed: it was not declared down")
  formed(stage, "a1", "b1", "c1")
  stage.act("b1 leaves", "b1", (gossip) => gossip.leave(stage.now))
  while (!stage.view("b1").includes("b1 exiting")) stage.rounds(1)
  stage.kill("b1")
  stage.start("b2")
  stage.tick("b2")
  stage.rounds(8)
  return stage.text
}

function leaderLeaves(): string {
  const stage = new GossipStage("the leader leaves: it has moved itself on, tells so, and hears nothing more")
  formed(stage, "a1", "b1")
  stage.act("a1 leaves", "a1", (gossip) => gossip.leave(stage.now))
  stage.rounds(1)
  stage.holds = ({ to }) => to === idOf("a1")
  stage.tick("a1")
  stage.kill("a1")
  stage.rounds(2)
  return stage.text
}

function lastLeaves(): string {
  const stage = new GossipStage("a node leaves before it has joined, and the last node leaves")
  stage.start("b1")
  stage.act("b1 leaves", "b1", (gossip) => gossip.leave(stage.now))
  stage.tick("b1")
  stage.start("a1")
  stage.tick("a1")
  stage.act("a1 leaves", "a1", (gossip) => gossip.leave(stage.now))
  stage.rounds(2)
  return stage.text
}

function allLeaveButOneThatJoins(): string {
  const stage = new GossipStage("all members leave while nodes join: the last one goes once these are up")
  formed(stage, "a1", "b1")
  for (const label of ["c1", "d1"]) {
    stage.start(label)
    stage.tick(label)
  }
  for (const label of ["a1", "b1"]) stage.act(`${label} leaves`, label, (gossip) => gossip.leave(stage.now))
  stage.rounds(8)
  return stage.text
}

function diesAsItJoins(): string {
  const stage = new GossipStage("nodes that die as they join are not moved up")
  formed(stage, "a1", "b1")
  for (const label of ["c1", "d1"]) {
    stage.start(label)
    stage.tick(label)
    stage.kill(label)
  }
  stage.rounds(8)
  return stage.text
}

function goesDown(): string {
  const stage = new GossipStage(
    "an unreachable node blocks the leader until it is down; if it lives, it is told",
  )
  formed(stage, "a1", "b1", "c1")
  stage.cut.add("b1")
  for (const label of ["a1", "c1"]) stage.node(label).reachable(new Set([idOf("b1")]))
  stage.start("d1")
  stage.rounds(3)
  stage.act("a1 declares b1 down", "a1", (gossip) => gossip.down(idOf("b1"), stage.now))
  stage.rounds(7)
  stage.cut.clear()
  stage.tick("b1")
  stage.tick("b1")
  return stage.text
}

function rejoins(): string {
  const stage = new GossipStage("a node restarts at its address while the others still have it as up")
  formed(stage, "a1", "b1", "c1")
  stage.kill("b1")
  stage.start("b2")
  stage.rounds(9)
  return stage.text
}

function welcomeIsLost(): string {
  const stage = new GossipStage(
    "the welcome is lost: the node asks again, and is over if it was declared down meanwhile",
  )
  stage.start("a1")
  stage.tick("a1")
  stage.start("b1")
  stage.holds = ({ message }) => message.kind === "welcome"
  stage.tick("b1")
  stage.act("a1 declares b1 down", "a1", (gossip) => gossip.down(idOf("b1"), stage.now))
  stage.now = 1_000
  stage.tick("b1")
  stage.release()
  return stage.text
}

function answersTheOldOne(): string {
  const stage = new GossipStage(
    "answers to an incarnation that is over do not concern the next one at its address",
  )
  stage.start("a1")
  stage.tick("a1")
  stage.start("b1", { about: { codec: "binary" } })
  stage.holds = ({ to }) => to === idOf("b1")
  stage.tick("b1")
  stage.kill("b1")
  stage.start("b2")
  stage.tick("b2")
  stage.releaseTo("b2")
  const cluster = stage.node("a1").cluster
  stage.forge("a1", "b2", { kind: "not-a-member", node: idOf("b1"), cluster, status: "removed" })
  return stage.text
}

function staleMessage(): string {
  const stage = new GossipStage("a message that is older than what is known of its sender is ignored")
  formed(stage, "a1", "b1", "c1")
  stage.holds = ({ from, message }) => from === "b1" && message.kind === "sync"
  stage.tick("b1")
  stage.holds = () => false
  stage.rounds(5)
  stage.release()
  return stage.text
}

function comesBackLate(): string {
  const stage = new GossipStage("a node that was away for ten minutes does not bring back what is forgotten")
  formed(stage, "a1", "b1", "c1", "d1")
  stage.cut.add("d1")
  for (const label of ["a1", "b1", "c1"]) stage.node(label).reachable(new Set([idOf("d1")]))
  stage.act("a1 declares d1 down", "a1", (gossip) => gossip.down(idOf("d1"), stage.now))
  stage.act("b1 leaves", "b1", (gossip) => gossip.leave(stage.now))
  stage.rounds(6)
  stage.kill("b1")
  stage.rounds(600)
  stage.cut.clear()
  stage.note("d1 still has all as up")
  stage.rounds(6)
  return stage.text
}

function pruned(): string {
  const stage = new GossipStage("a tombstone is kept until every member has agreed after 60 rounds")
  formed(stage, "a1", "b1", "c1")
  stage.kill("b1")
  stage.act("a1 declares b1 down", "a1", (gossip) => gossip.down(idOf("b1"), stage.now))
  stage.rounds(20)
  stage.note("c1 cannot be reached from now on")
  stage.cut.add("c1")
  stage.rounds(100)
  stage.cut.clear()
  stage.rounds(4)
  return stage.text
}

function strangers(): string {
  const stage = new GossipStage("gossip of a node that is not a member, or of another cluster, is not merged")
  formed(stage, "a1", "b1")
  const { cluster } = stage.node("a1")
  const claim = {
    version: 9,
    entries: [[idOf("x1"), 1, 1, 0] as const],
    abouts: [{ roles: [], types: [], terms: { version: 1, codec: "json", shards: {} } }],
    moves: [],
    words: [],
    digests: [],
    nodes: [],
    lacks: [],
    wantsMoves: [],
    wantsWords: [],
  }
  stage.forge("x1", "a1", { kind: "delta", cluster, ...claim })
  stage.forge("b1", "a1", { kind: "delta", cluster: "another", ...claim })
  stage.forge("x1", "a1", { kind: "welcome", node: idOf("a1"), cluster: "another", ...claim })
  stage.forge("x1", "a1", { kind: "refuse", node: idOf("a1"), field: "codec", problem: "must be another" })
  stage.note(`a1 knows ${stage.view("a1")}`)
  return stage.text
}

function twoClusters(): string {
  const stage = new GossipStage(
    "of two clusters the smaller one yields, or the one with the higher id; they are never merged",
  )
  stage.start("a1", { seeds: ["a", "b"] })
  stage.cut.add("b1")
  stage.start("b1", { seeds: ["b"] })
  stage.rounds(6)
  stage.cut.clear()
  stage.tick("b1")
  stage.start("c1", { seeds: ["a", "b"] })
  stage.rounds(4)
  return stage.text
}

function twoWelcomes(): string {
  const stage = new GossipStage("a node that two clusters welcome is in the first one alone")
  stage.start("a1", { seeds: ["a"] })
  stage.start("b1", { seeds: ["b"] })
  stage.rounds(1)
  stage.start("c1", { seeds: ["a", "b"] })
  stage.tick("c1")
  stage.rounds(3)
  return stage.text
}

function clusterIsGone(): string {
  const stage = new GossipStage(
    "a node was paused while all others restarted: it yields, though it knew more of them",
  )
  const seeds = ["a", "b"]
  formedWith(stage, seeds, "a1", "b1", "c1", "d1")
  stage.cut.add("d1")
  for (const label of ["a1", "b1", "c1"]) stage.kill(label)
  for (const label of ["a2", "b2"]) stage.start(label, { seeds })
  stage.rounds(30)
  stage.cut.clear()
  stage.node("d1").cameBack(stage.now)
  stage.note("d1 is back, and has heard nobody yet")
  stage.rounds(4)
  return stage.text
}

function firstSeedRestarts(): string {
  const stage = new GossipStage("the first seed restarts while its cluster lives")
  formed(stage, "a1", "b1", "c1")
  stage.kill("a1")
  stage.start("a2", { seeds: ["a", "b"] })
  stage.rounds(9)
  return stage.text
}

function seedsRestart(): string {
  const stage = new GossipStage("all seeds restart at once; those that live on invite them")
  const seeds = ["a", "b"]
  formedWith(stage, seeds, "a1", "b1", "c1", "d1")
  stage.kill("a1")
  stage.kill("b1")
  stage.start("a2", { seeds })
  stage.start("b2", { seeds })
  stage.rounds(10)
  return stage.text
}

function allRestart(): string {
  const stage = new GossipStage("all nodes restart at once")
  const seeds = ["a", "b"]
  formedWith(stage, seeds, "a1", "b1", "c1")
  for (const label of ["a1", "b1", "c1"]) stage.kill(label)
  for (const label of ["a2", "b2", "c2"]) stage.start(label, { seeds })
  stage.rounds(10)
  return stage.text
}

function losesPartition(): string {
  const stage = new GossipStage("the first seed was on the side that lost: it forms no cluster of its own")
  const seeds = ["a", "b"]
  formedWith(stage, seeds, "a1", "b1", "c1")
  stage.kill("a1")
  stage.cut.add("b1")
  stage.cut.add("c1")
  stage.start("a2", { seeds, contacts: ["b", "c"] })
  stage.rounds(10)
  stage.note("b is restarted on its side, and is not a member yet; c1 cannot be reached")
  stage.kill("b1")
  stage.start("b2", { seeds })
  stage.cut.delete("b1")
  stage.rounds(10)
  stage.cut.clear()
  stage.rounds(6)
  return stage.text
}

function noSideSurvives(): string {
  const stage = new GossipStage(
    "no side has survived: the first seed forms a cluster once all others are out",
  )
  const seeds = ["a", "b"]
  stage.start("a2", { seeds, contacts: ["b", "c"] })
  stage.start("b2", { seeds, contacts: ["a", "c"] })
  stage.rounds(10)
  stage.note("nobody listens at c")
  for (let round = 0; round < 8; round += 1) {
    stage.node("a2").absent("c:1")
    stage.rounds(1)
  }
  return stage.text
}

function lonely(): string {
  const stage = new GossipStage("the member that admitted a node dies before anybody else knows it")
  stage.start("a1")
  stage.tick("a1")
  stage.start("b1")
  stage.tick("b1")
  stage.kill("a1")
  stage.rounds(32)
  return stage.text
}

function unknown(): string {
  const stage = new GossipStage("a node is over whose members do not know it, once they have had time to")
  formed(stage, "a1", "b1", "c1")
  stage.start("d1")
  stage.holds = ({ from, message }) => from === "a1" && message.kind !== "welcome"
  stage.tick("d1")
  stage.kill("a1")
  stage.held.splice(0)
  stage.holds = () => false
  for (const label of ["b1", "c1"]) stage.node(label).reachable(new Set([idOf("a1")]))
  stage.rounds(16)
  return stage.text
}

function membersAreGone(): string {
  const stage = new GossipStage("a node that joins is over at once when all members are known to be gone")
  stage.start("a1")
  stage.tick("a1")
  stage.start("b1")
  stage.tick("b1")
  stage.node("a1").reachable(new Set([idOf("b1")]))
  stage.act("a1 leaves", "a1", (gossip) => gossip.leave(stage.now))
  stage.rounds(2)
  return stage.text
}

function byTheStore(): string {
  const stage = new GossipStage(
    "by the store, members are those of the records; gossip adds words and hints",
    "store",
  )
  for (const label of ["a1", "b1", "c1"]) stage.start(label)
  const both = storedMembers(["a1", "up"], ["b1", "up"])
  const all = storedMembers(["a1", "up"], ["b1", "up"], ["c1", "up"])
  stage.tick("a1")
  stage.act("a1 is told of a1, b1", "a1", (gossip) => gossip.members(both, stage.now))
  stage.act("b1 is told of a1, b1, c1", "b1", (gossip) => gossip.members(all, stage.now))
  stage.act("b1 is told the same again", "b1", (gossip) => gossip.members(all, stage.now))
  stage.act("c1 is told of a1, b1, c1", "c1", (gossip) => gossip.members(all, stage.now))
  stage.tick("a1")
  stage.tick("a1")
  stage.tick("b1")
  stage.tick("c1")
  stage.now = 1_000
  stage.tick("c1")
  stage.act("a1 is told of a1, b1, c1", "a1", (gossip) => gossip.members(all, stage.now))
  const leaving = storedMembers(["a1", "up"], ["b1", "leaving"], ["c1", "down"])
  stage.act("a1 is told that b1 is leaving, c1 down", "a1", (gossip) => gossip.members(leaving, stage.now))
  stage.note("statuses are not taken from gossip, and the gossip of c1 is ignored")
  stage.tick("a1")
  stage.tick("c1")
  stage.tick("c1")
  stage.note(`b1 knows ${stage.view("b1")}`)
  stage.act("a1 is told of a1 alone", "a1", (gossip) =>
    gossip.members(storedMembers(["a1", "up"]), stage.now),
  )
  stage.tick("a1")
  return stage.text
}

/** Nodes that are up in one cluster, and know it. */
function formed(stage: GossipStage, ...labels: readonly string[]): void {
  formedWith(stage, ["a"], ...labels)
}

function formedWith(stage: GossipStage, seeds: readonly string[], ...labels: readonly string[]): void {
  const { length } = stage.lines
  for (const label of labels) stage.start(label, { seeds })
  stage.rounds(20)
  stage.lines.splice(length)
  for (const label of labels) {
    expect(stage.node(label).isConverged).toBe(true)
    expect(stage.node(label).leader).toBe(idOf(labels[0] as string))
  }
  stage.note(`${labels[0]} knows ${stage.view(labels[0] as string)}`)
}
