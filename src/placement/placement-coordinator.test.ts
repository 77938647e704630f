import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { importPlanted, plantedImport } from "../../test/golden/planted-import.js"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Denial } from "../registry/registration.js"
import { PlacementCoordinator } from "./placement-coordinator.js"
import type { PlacementEvent } from "./placement-log.js"
import type {
  Answer,
  CoordinatorEvent,
  CoordinatorSnapshot,
  PlacementCommand,
  PlacementOptions,
  Refusal,
  Resolution,
  Topology,
} from "./placement-protocol.js"

/** Returns all scenarios as text: each is a script, with the output of the coordinator for each line. */
function conversations(Coordinator: typeof PlacementCoordinator): string {
  const scenario = scenarioWith(Coordinator)
  const told = [
    scenario(
      "an actor that runs here is resolved to this node, whatever the cache and the strategy say",
      { authority: "b" },
      `0   catalog x @10
       0   cache x c @12
       1   resolve x`,
    ),
    scenario(
      "cached authority: a cached placement on a member is the answer",
      { authority: "a" },
      `0   cache x b @7
       1   resolve x`,
    ),
    scenario(
      "cached authority: also if that node no longer hosts the type, as it keeps its actors until it has left",
      { authority: "c" },
      `0   topology 2 a b- c
       0   cache x b @7
       1   resolve x`,
    ),
    scenario(
      "cached authority: a placement on a node that leaves is read again, also as its last host",
      { authority: "c" },
      `0   topology 2 a b~ c
       0   cache x b @7
       1   resolve x
       2   looked-up r1 b @7
       3   resolve x
       4   looked-up r2 absent @9
       5   topology 3 b~
       6   resolve x`,
    ),
    scenario(
      "stored authority: without a cached placement, the store is read before a message is sent to another node",
      { authority: "b" },
      `1   resolve x
       5   looked-up r1 c @7
       5   cache x c @7
       6   resolve x`,
    ),
    scenario(
      "remote authority: without a placement, the strategy chooses the node, which starts the actor when the message arrives",
      { authority: "b" },
      `1   resolve x
       5   looked-up r1 absent @40
       5   cache x absent @40
       6   resolve x`,
    ),
    scenario(
      "a cached absence makes a read of the store unnecessary",
      { authority: "b" },
      `0   cache x absent @40
       1   resolve x`,
    ),
    scenario(
      "a named node stays named until a newer revision is known, so that no later message overtakes",
      { authority: "b" },
      `0   cache x absent @40
       1   resolve x
       2   prefer c
       2   resolve x
       3   topology 2 a b c d
       3   resolve x
       4   cache x absent @55
       4   resolve x`,
    ),
    scenario(
      "another node is named if the named node is gone",
      { authority: "b" },
      `0   cache x absent @40
       1   resolve x
       2   prefer c
       2   member-left b
       3   resolve x`,
    ),
    scenario(
      "this node is the authority: the actor is claimed, activated and answered as local",
      {},
      `1   resolve x
       4   acquired r1 @10
       9   activation-ready r1
       9   catalog x @10
       10  resolve x`,
    ),
    scenario(
      "later version: the claim is given up, and the answer is a node that knows the version, for all waiters",
      {},
      `0   topology 2 a b c2
       1   resolve x
       2   resolve x
       4   acquired r1 @10 v2
       5   resolve x here
       9   cache x absent @11
       9   released r1
       10  resolve x`,
    ),
    scenario(
      "later version: if no host knows it, all waiters are refused as soon as the claim is given up",
      {},
      `1   resolve x
       2   resolve x
       4   acquired r1 @10 v2
       9   released r1
       10  resolve x`,
    ),
    scenario(
      "later version: a node that knows it and has refused the message is not tried again at once",
      {},
      `0   topology 2 a b c2
       1   resolve x excluding c
       4   acquired r1 @10 v2
       9   released r1`,
    ),
    scenario(
      "later version: the node that knows it has claimed the actor meanwhile",
      {},
      `0   topology 2 a b c2
       1   resolve x
       4   acquired r1 @10 v2
       8   cache x c @12
       9   released r1`,
    ),
    scenario(
      "later version: the answer of the release was lost, so the next resolve claims again",
      {},
      `0   topology 2 a b c2
       1   resolve x
       4   acquired r1 @10 v2
       9   release-failed r1 the store did not answer
       10  cache x a @10
       10  resolve x
       12  acquired r2 @13 v2
       14  released r2`,
    ),
    scenario(
      "later version: the request is cancelled while the claim is given up",
      {},
      `0   topology 2 a b c2
       1   resolve x
       4   acquired r1 @10 v2
       5   suspend the lease is gone
       9   released r1`,
    ),
    scenario(
      "two resolves of one id share one request and are answered in their order",
      {},
      `1   resolve x
       2   resolve x
       4   acquired r1 @10
       5   resolve x
       6   resolve y
       9   activation-ready r1`,
    ),
    scenario(
      "existing live owner: the claim finds the owner",
      {},
      `1   resolve x
       4   acquire-denied r1 owned c @7
       4   cache x c @7
       5   resolve x`,
    ),
    scenario(
      "existing live owner: also one that is not in the topology yet, as the claim has found its record",
      {},
      `1   resolve x
       4   acquire-denied r1 owned z @7`,
    ),
    scenario(
      "lock denied: this node may not claim, or the store does not answer",
      {},
      `1   resolve x
       2   resolve x
       4   acquire-denied r1 leaving the record says so
       10  resolve x
       14  acquire-denied r2 fenced the lease has run out
       20  resolve x
       24  acquire-denied r3 unavailable no answer in 2000 ms`,
    ),
    scenario(
      "lock denied: a claim denied with this node as the owner is refused, and not resolved in a circle",
      {},
      `1   resolve x
       4   acquire-denied r1 owned a @7`,
    ),
    scenario(
      "dead owner: a placement on a node without a record may be claimed",
      {},
      `0   cache x z @7
       1   resolve x
       4   acquired r1 @60
       9   activation-ready r1`,
    ),
    scenario(
      "dead owner, and another node is the authority: the store is read, as the actor may have been claimed since",
      { authority: "b" },
      `0   cache x z @7
       1   resolve x
       5   looked-up r1 c @58
       10  cache y z @8
       10  resolve y
       15  looked-up r2 z @8
       20  resolve y`,
    ),
    scenario(
      "dead owner: the event that a member has left precedes the topology",
      {},
      `0   cache x b @7
       1   resolve x
       2   member-left b
       3   resolve x
       4   acquired r1 @60`,
    ),
    scenario(
      "dead owner: a topology that still contains a member that has left is outdated",
      {},
      `0   cache x b @7
       1   member-left b
       2   topology 2 a b c
       3   resolve x`,
    ),
    scenario(
      "orphan record: names this node, which runs no such activation, and is claimed again whatever the strategy says",
      { authority: "b" },
      `0   cache x a @7
       1   resolve x
       4   acquired r1 @61
       9   activation-ready r1`,
    ),
    scenario(
      "orphan record, found in the store",
      { authority: "b" },
      `1   resolve x
       3   looked-up r1 a @7
       4   acquired r1 @61
       9   activation-ready r1`,
    ),
    scenario(
      "orphan record on a node that does not host the type: it is deleted, and then other nodes may claim the actor",
      { authority: "b" },
      `0   topology 2 a- b c
       0   cache x a @7
       1   resolve x
       4   released r1
       10  cache y a @8
       10  resolve y
       14  release-failed r2 no answer in 2000 ms`,
    ),
    scenario(
      "failed activation: the placement is released, all waiters get the cause, and the next resolve tries again",
      {},
      `1   resolve x
       2   resolve x
       4   acquired r1 @10
       9   activation-failed r1 onActivate threw
       12  released r1
       13  resolve x
       14  acquired r2 @15
       15  activation-ready r2`,
    ),
    scenario(
      "a resolve before the end of the release waits for it, and then starts a new request",
      {},
      `1   resolve x
       4   acquired r1 @10
       9   activation-failed r1 onActivate threw
       10  resolve x
       12  released r1
       14  acquired r2 @15
       15  activation-ready r2`,
    ),
    scenario(
      "a resolve before the end of the release keeps its options",
      { authority: "b" },
      `1   resolve x here
       1   resolve y here
       4   acquired r1 @10
       4   acquired r2 @11
       9   activation-failed r1 onActivate threw
       9   activation-failed r2 onActivate threw
       10  resolve x here
       10  resolve y excluding b
       12  released r1
       12  prefer c
       12  cache y absent @12
       12  released r2
       13  prefer b
       13  resolve y`,
    ),
    scenario(
      "its options also hold if the store has to be read first; those of earlier waiters are not carried over",
      { authority: "b" },
      `1   resolve x here
       1   resolve y here
       1   resolve z excluding b
       4   acquired r1 @10
       4   acquired r2 @11
       4   acquired r3 @12
       9   activation-failed r1 onActivate threw
       9   activation-failed r2 onActivate threw
       9   activation-failed r3 onActivate threw
       10  topology 2 a- b c
       10  resolve x here
       10  resolve y excluding b
       10  resolve z
       12  released r1
       12  released r2
       12  released r3
       13  topology 3 a b d
       14  looked-up r4 absent @40
       14  looked-up r5 absent @40
       14  looked-up r6 absent @40`,
    ),
    scenario(
      "failed release: the placement remains and names this node; the next resolve claims it again",
      { authority: "b" },
      `1   resolve x here
       4   acquired r1 @10
       9   activation-failed r1 onActivate threw
       9   cache x a @10
       10  resolve x
       12  release-failed r1 no answer in 2000 ms
       14  acquired r2 @19
       15  activation-ready r2`,
    ),
    scenario(
      "a failed look-up leaves no request behind",
      { authority: "b" },
      `1   resolve x
       5   looked-up r1 failed no answer in 2000 ms
       6   resolve x`,
    ),
    scenario(
      "what the cache has learned during a read may be newer or older than the result",
      { authority: "b" },
      `1   resolve x
       1   resolve y
       2   cache x c @45
       2   cache y c @35
       5   looked-up r1 absent @40
       5   looked-up r2 absent @40`,
    ),
    scenario(
      "topology change during a read: the named node is gone, and another one is named",
      { authority: "b" },
      `1   resolve x
       2   prefer c
       2   topology 2 a c
       5   looked-up r1 absent @40`,
    ),
    scenario(
      "topology change during a read: the strategy would now choose another node, but the named one is kept",
      { authority: "b" },
      `1   resolve x
       2   prefer d
       2   topology 2 a b c d
       5   looked-up r1 absent @40`,
    ),
    scenario(
      "topology change during a read: the node that is read is gone, and only this node is left",
      { authority: "b" },
      `1   resolve x
       2   topology 2 a
       5   looked-up r1 b @7
       8   acquired r1 @60
       9   activation-ready r1`,
    ),
    scenario(
      "topology change during a claim: the strategy is not asked again",
      {},
      `1   resolve x
       2   prefer b
       2   topology 2 a b c d
       4   acquired r1 @10
       9   activation-ready r1`,
    ),
    scenario(
      "topology change during a claim: this node no longer hosts the type, and releases the placement",
      {},
      `1   resolve x
       2   topology 2 a- b c
       4   acquired r1 @10
       6   released r1
       7   prefer b
       7   resolve x`,
    ),
    scenario(
      "a topology that is not newer than the known one is ignored",
      { authority: "b" },
      `1   topology 3 a b
       2   topology 2 a c
       3   cache x absent @40
       3   resolve x`,
    ),
    scenario(
      "stop during a read",
      { authority: "b" },
      `1   resolve x
       2   stop
       5   looked-up r1 absent @40
       6   resolve x`,
    ),
    scenario(
      "stop during a claim: waiters are refused at once, and an acquired placement is released",
      {},
      `1   resolve x
       1   resolve y
       2   stop
       4   acquired r1 @10
       5   acquire-denied r2 unavailable no answer in 2000 ms
       6   released r1`,
    ),
    scenario(
      "stop during an activation",
      {},
      `1   resolve x
       1   resolve y
       3   acquired r1 @10
       3   acquired r2 @11
       4   stop
       5   activation-ready r1
       5   activation-failed r2 onActivate threw
       6   released r1
       6   release-failed r2 the store is closed`,
    ),
    scenario(
      "stop during a release that a resolve waits for",
      {},
      `1   resolve x
       3   acquired r1 @10
       4   activation-failed r1 onActivate threw
       5   resolve x
       6   stop
       7   released r1`,
    ),
    scenario(
      "restart before the old claim has ended: a resolve waits until its placement is released",
      {},
      `1   resolve x
       2   stop
       3   start member
       4   resolve x
       5   acquired r1 @10
       6   released r1
       7   acquired r2 @14
       8   activation-ready r2`,
    ),
    scenario(
      "unhosted type: no candidate exists",
      {},
      `1   resolve U/x
       2   cache U/y b @7
       2   resolve U/y`,
    ),
    scenario(
      "a strategy that throws or names no candidate is a refusal",
      { authority: "z" },
      `1   resolve x
       2   prefer nobody
       2   resolve x`,
    ),
    scenario(
      "the actor of a message that another node sent here is claimed here, if it has no owner",
      { authority: "b" },
      `1   resolve x here
       4   acquired r1 @10
       5   resolve U/x here
       6   cache y c @7
       6   resolve y here`,
    ),
    scenario(
      "the options of a waiter that joins during a read apply to all",
      { authority: "b" },
      `1   resolve x
       2   resolve x here
       5   looked-up r1 absent @40
       6   acquired r1 @41
       7   activation-ready r1`,
    ),
    scenario(
      "a node that has refused a message gets no new actor for it",
      { authority: "b" },
      `0   cache x absent @40
       1   resolve x
       2   prefer c
       2   resolve x excluding b
       3   resolve x
       4   cache y absent @41
       4   resolve y excluding a b c
       5   cache x b @50
       5   resolve x excluding b
       6   prefer b
       6   resolve z
       7   resolve z excluding b a
       8   looked-up r1 absent @42`,
    ),
    scenario(
      "client mode: this node calls but hosts no actors",
      { as: "client" },
      `1   resolve x
       3   prefer b
       3   looked-up r1 absent @40
       4   cache y c @7
       4   resolve y
       5   cache v a @8
       5   resolve v
       6   looked-up r2 a @8
       7   topology 2 a
       7   resolve z`,
    ),
    scenario(
      "change to client mode: reads continue, claimed placements are released",
      { authority: "a" },
      `1   resolve x
       1   resolve y
       1   prefer b
       1   resolve z
       2   acquired r2 @10
       3   start client
       4   resolve x
       5   acquired r1 @11
       6   activation-ready r2
       7   looked-up r3 absent @40
       8   released r1
       9   released r2
       10  looked-up r4 absent @41`,
    ),
    scenario(
      "not ready: stopped, then without a topology, then suspended",
      { as: "nothing yet" },
      `1   resolve x
       2   start member
       3   resolve x
       4   topology 1 a b c
       5   suspend the lease has run out
       6   resolve x
       7   topology 2 a b c
       8   start member
       9   resolve x`,
    ),
    scenario(
      "not ready during requests: this node's own record is gone",
      {},
      `1   resolve x
       1   resolve y
       2   acquired r1 @10
       3   member-left a
       4   activation-ready r1
       5   acquire-denied r2 fenced the record is gone
       6   released r1`,
    ),
    scenario("an id of another namespace is refused", {}, `1   resolve else::T/x`),
    scenario(
      "the number of waiters is limited",
      { mostWaiters: 2 },
      `1   resolve x
       2   resolve x
       3   resolve x
       4   resolve y
       5   acquire-denied r1 owned b @7
       6   resolve y`,
    ),
    scenario("passivated", {}, `1   passivated x @10`),
    scenario(
      "events that are late, duplicate, unknown, or for another step are ignored",
      {},
      `1   acquired r1 @9
       2   resolve x
       3   activation-ready r1
       3   released r1
       3   looked-up r1 b @7
       4   acquired r1 @10
       5   acquired r1 @11
       5   acquire-denied r1 owned b @7
       6   activation-ready r1
       7   activation-ready r1
       8   activation-failed r1 too late
       9   released r1`,
    ),
    scenario(
      "the snapshot shows the state, the requests and the counts",
      { authority: "b" },
      `0   snapshot
       1   cache x absent @40
       1   resolve x
       2   resolve y
       2   resolve y
       3   resolve z here
       3   acquired r2 @41
       4   snapshot
       5   stop
       6   snapshot`,
    ),
  ]
  return `${HEAD}\n\n${told.join("\n\n")}\n`
}

test("matches the golden conversations", async () => {
  await expect(conversations(PlacementCoordinator)).toMatchFileSnapshot(GOLDEN)
})

test.each<Planted>([
  {
    bug: "a claim that was cancelled is activated",
    file: "placement-coordinator",
    from: "if (request.isCancelled) return [this.#release(request, generation)]\n    if (!this.#role",
    to: "if (!this.#role",
    found: "restart before the old claim has ended: a resolve waits until its placement is released",
  },
  {
    bug: "an id has a request for each resolve",
    file: "placement-coordinator",
    from: "if (inFlight !== undefined) {",
    to: "if (inFlight !== undefined && requests.isFull) {",
    found: "two resolves of one id share one request and are answered in their order",
  },
  {
    bug: "an actor that runs here is looked up",
    file: "placement-coordinator",
    from: "if (generation !== undefined) return requests.answer(local(generation, now))",
    to: "",
    found: "an actor that runs here is resolved to this node, whatever the cache and the strategy say",
  },
  {
    bug: "a read replaces newer knowledge of the cache",
    file: "placement-coordinator",
    from: "revisionOf(cached) > revisionOf(found)",
    to: "revisionOf(cached) < revisionOf(found)",
    found: "what the cache has learned during a read may be newer or older than the result",
  },
  {
    bug: "a claim that is denied to the owner itself is answered with this node",
    file: "placement-coordinator",
    from: "if (node.equals(this.#role.self)) {",
    to: "if (node.equals(this.#role.self) && generation === 0) {",
    found: "lock denied: a claim denied with this node as the owner is refused, and not resolved in a circle",
  },
  {
    bug: "a node continues to place actors when its own record is gone",
    file: "placement-coordinator",
    from: "return event.node.equals(this.#role.self) ?",
    to: "return event.node.equals(this.#role.self) && now < 0 ?",
    found: "not ready during requests: this node's own record is gone",
  },
  {
    bug: "the strategy is asked again after a read, and may name another node",
    file: "placement-coordinator",
    from: ", previousAuthority: stage.authority }",
    to: " }",
    found:
      "topology change during a read: the strategy would now choose another node, but the named one is kept",
  },
  {
    bug: "waiters that joined after a cancellation are forgotten",
    file: "placement-coordinator",
    from: "if (request.waiters.length === 0) return NONE",
    to: "if (request.waiters.length >= 0) return NONE",
    found: "a resolve before the end of the release waits for it, and then starts a new request",
  },
  {
    bug: "an actor is resolved to a node whose record is gone",
    file: "placement-step",
    from: "!isOwn && role.hasMember(placed.node)",
    to: "!isOwn",
    found: "dead owner: a placement on a node without a record may be claimed",
  },
  {
    bug: "a placement that names this node is left to the strategy",
    file: "placement-step",
    from: "placed !== undefined && isOwn && role.isMember",
    to: "placed !== undefined && isOwn && !role.isMember",
    found:
      "orphan record: names this node, which runs no such activation, and is claimed again whatever the strategy says",
  },
  {
    bug: "a dead placement in the cache is taken for an absence",
    file: "placement-step",
    from: "(placed === undefined || isFromStore || !isNew)",
    to: "true",
    found:
      "dead owner, and another node is the authority: the store is read, as the actor may have been claimed since",
  },
  {
    bug: "a later message may go to another node than the one that was named",
    file: "authorities",
    from: `if (named !== undefined) return { kind: "named", candidate: named, isNew: false }`,
    to: "",
    found: "a named node stays named until a newer revision is known, so that no later message overtakes",
  },
  {
    bug: "a node that has refused a message gets the actor",
    file: "authorities",
    from: "!excluded.some((one) => one.equals(node))",
    to: "excluded.length >= 0",
    found: "a node that has refused a message gets no new actor for it",
  },
  {
    bug: "a message that was sent here is sent on to the strategy's choice",
    file: "authorities",
    from: "here ? candidateOf(this.#self, candidates) : undefined",
    to: "here ? undefined : undefined",
    found: "a resolve before the end of the release keeps its options",
  },
  {
    bug: "an actor is started although its stored state is of a later version",
    file: "placement-coordinator",
    from: "if (stateVersion !== undefined) {",
    to: "if (stateVersion === 0) {",
    found: "later version: if no host knows it, all waiters are refused as soon as the claim is given up",
  },
  {
    bug: "the actor goes to a node that does not know the version either",
    file: "cluster-role",
    from: "this.#topology?.candidates(type, stateVersion) ?? []",
    to: "(this.#topology?.candidates(type) ?? []).filter(({ node }) => !node.equals(this.self))",
    found:
      "later version: the claim is given up, and the answer is a node that knows the version, for all waiters",
  },
  {
    bug: "the answer is given before the placement is released",
    file: "placement-coordinator",
    from: `request.enter({ kind: "clearing", generation })
      return [release]`,
    to: `request.enter({ kind: "clearing", generation })
      return [release, ...this.#released(request.number, undefined, now)]`,
    found:
      "later version: the claim is given up, and the answer is a node that knows the version, for all waiters",
  },
  {
    bug: "an outdated topology brings back a member that has left",
    file: "cluster-role",
    from: "if (this.#topology?.has(node)) this.#left.set(node.toString(), node)",
    to: "",
    found: "dead owner: the event that a member has left precedes the topology",
  },
  {
    bug: "waiters are answered in another order than that of their resolves",
    file: "placement-requests",
    from: "return waiters.map(",
    to: "return waiters.toReversed().map(",
    found: "two resolves of one id share one request and are answered in their order",
  },
  {
    bug: "the options of earlier waiters stay with a request",
    file: "placement-requests",
    from: "this.waiters = []\n    this.here = false",
    to: "this.waiters = []",
    found: "a resolve before the end of the release keeps its options",
  },
])("a scenario finds that $bug", async ({ file, from, to, found }) => {
  const url = new URL("./placement-coordinator.ts", import.meta.url)
  const own = file === "placement-coordinator"
  const change = own ? { from, to } : plantedImport(`./${file}`, { from, to })
  const planted = await importPlanted<{ PlacementCoordinator: typeof PlacementCoordinator }>(url, change)
  const written = readFileSync(GOLDEN, "utf8").split(/^# /m)
  const told = conversations(planted.PlacementCoordinator).split(/^# /m)
  const failing = told.filter((scenario, at) => scenario !== written[at])
  expect(failing.map((scenario) => scenario.split("\n")[0])).toContain(found)
})

interface Planted {
  readonly bug: string
  readonly file: string
  readonly from: string
  readonly to: string
  /** A scenario whose output differs from the golden file. */
  readonly found: string
}

const GOLDEN = join(import.meta.dirname, "placement-coordinator.golden.txt")

test("keeps the newest events and reports how many were dropped", () => {
  const coordinator = new PlacementCoordinator({
    self: nodeNamed("a"),
    namespace: "ns",
    generationHere: () => undefined,
    cached: () => undefined,
    random: { uint32: () => 0 },
    mostEvents: 4,
  })
  for (let version = 1; version <= 11; version += 1) {
    coordinator.handle({ kind: "topology-changed", topology: topologyOf(version, ["a"]) }, version)
  }
  expect(coordinator.drainEvents(12).map(eventText)).toEqual([
    "missed 7",
    ...[8, 9, 10, 11].map((version) => `topology-changed ${version}`),
  ])
  expect(coordinator.drainEvents(13)).toEqual([])
})

test("a claim counts towards this node's load unless it is denied or released", () => {
  const loads: number[] = []
  const coordinator = new PlacementCoordinator({
    self: nodeNamed("a"),
    namespace: "ns",
    generationHere: () => undefined,
    cached: () => undefined,
    random: { uint32: () => 0 },
    strategyOf: () => (_id, candidates, context) => {
      loads.push(...candidates.map((candidate) => context.load(candidate)))
      return nodeNamed("a")
    },
  })
  coordinator.handle({ kind: "topology-changed", topology: topologyOf(1, ["a"]) }, 0)
  coordinator.handle({ kind: "start", as: "member" }, 0)
  const outcomes: readonly CoordinatorEvent[][] = [
    [eventWritten("acquired", ["r1", "@1"]), eventWritten("activation-ready", ["r1"])],
    [eventWritten("acquire-denied", ["r2", "owned", "b", "@7"])],
    [eventWritten("acquired", ["r3", "@2"]), eventWritten("activation-failed", ["r3"])],
    [eventWritten("acquired", ["r4", "@3"])],
    [],
  ]
  for (const [at, events] of outcomes.entries()) {
    coordinator.resolve(idNamed(`x${at}`), at)
    for (const event of events) coordinator.handle(event, at)
  }
  expect(loads).toEqual([0, 1, 1, 1, 2])
})

const HEAD = `This node is a, a member; b and c are members too, and all host the type T of x, y and z. The strategy chooses a, unless a
scenario says otherwise. @7 is a generation or a revision, r1 a request, w1 a waiter, v2 the version of a stored state.
All know version 1, and c2 in a topology is a node c that knows version 2. The lines cache and catalog set what these
contain.

    ms  input                                                 state      answer or commands
                                                                         * published events`

/** The column where the last column begins. */
const MARGIN = 73

interface ScenarioOptions {
  readonly as?: "member" | "client" | "nothing yet"
  readonly authority?: string
  readonly mostWaiters?: number
}

/** Returns a function that runs a script of one input per line, and returns the lines with their outputs. */
function scenarioWith(Coordinator: typeof PlacementCoordinator) {
  return (name: string, options: ScenarioOptions, script: string) =>
    performed(name, options, script, new ScenarioStage(Coordinator, options))
}

function performed(name: string, options: ScenarioOptions, script: string, stage: ScenarioStage): string {
  const lines = script.split("\n").flatMap((line) => {
    const [at = "", ...words] = line.trim().split(/\s+/)
    const done = stage.perform(words, Number(at))
    const told = stage.coordinator.drainEvents(Number(at)).map((event) => {
      expect(event.observedAt).toBe(Number(at))
      return `${" ".repeat(MARGIN)}* ${eventText(event)}`
    })
    const { state } = stage.coordinator
    return [
      `${at.padStart(6)}  ${words.join(" ").padEnd(52)}  ${state.padEnd(9)}  ${done}`.trimEnd(),
      ...told,
    ]
  })
  const differs = Object.entries(options).map(([option, value]) => `${option} ${value}`)
  return [`# ${name}`, ...(differs.length > 0 ? [`  ${differs.join(", ")}`] : []), ...lines].join("\n")
}

class ScenarioStage {
  readonly coordinator: PlacementCoordinator
  readonly #cache = new Map<string, Whereabouts>()
  readonly #catalog = new Map<string, number>()
  #authority: string

  constructor(
    Coordinator: typeof PlacementCoordinator,
    { as = "member", authority = "a", mostWaiters }: ScenarioOptions,
  ) {
    this.#authority = authority
    this.coordinator = new Coordinator({
      self: nodeNamed("a"),
      namespace: "ns",
      generationHere: (id) => this.#catalog.get(id.toString()),
      cached: (id) => this.#cache.get(id.toString()),
      random: { uint32: () => 0 },
      strategyOf: () => (_id, candidates) => {
        if (this.#authority === "nobody") throw new Error("the strategy is broken")
        const preferred = nodeNamed(this.#authority)
        if (this.#authority === "z") return preferred
        return (candidates.find(({ node }) => node.equals(preferred)) ?? candidates[0])?.node ?? preferred
      },
      ...(mostWaiters === undefined ? {} : { mostWaiters }),
    })
    if (as === "nothing yet") return
    this.coordinator.handle({ kind: "topology-changed", topology: topologyOf(1, ["a", "b", "c"]) }, 0)
    this.coordinator.handle({ kind: "start", as }, 0)
    this.coordinator.drainEvents(0)
  }

  perform([verb = "", ...words]: readonly string[], now: number): string {
    const [first = "", ...rest] = words
    switch (verb) {
      case "cache":
        this.#cache.set(idNamed(first).toString(), whereabouts(rest))
        return ""
      case "catalog":
        this.#catalog.set(idNamed(first).toString(), revision(rest[0]))
        return ""
      case "prefer":
        this.#authority = first
        return ""
      case "snapshot":
        return snapshotText(this.coordinator.snapshot())
      case "resolve":
        return resolutionText(this.coordinator.resolve(idNamed(first), now, optionsWritten(rest)))
      default:
        return commandsText(this.coordinator.handle(eventWritten(verb, words), now))
    }
  }
}

function optionsWritten([what, ...nodes]: readonly string[]): PlacementOptions {
  if (what === "here") return { here: true }
  return what === "excluding" ? { excluded: nodes.map(nodeNamed) } : {}
}

function eventWritten(verb: string, words: readonly string[]): CoordinatorEvent {
  const [first = "", second = ""] = words
  const request = Number(first.slice(1))
  const detail = words.slice(1).join(" ")
  switch (verb) {
    case "start":
      return { kind: verb, as: first === "client" ? "client" : "member" }
    case "suspend":
      return { kind: verb, because: words.join(" ") }
    case "stop":
      return { kind: verb }
    case "topology":
      return { kind: "topology-changed", topology: topologyOf(Number(first), words.slice(1)) }
    case "member-left":
      return { kind: verb, node: nodeNamed(first) }
    case "passivated":
      return { kind: verb, id: idNamed(first), generation: revision(second) }
    case "looked-up":
      if (second === "failed") {
        return { kind: verb, request, found: { kind: "failed", detail: words.slice(2).join(" ") } }
      }
      return { kind: verb, request, found: whereabouts(words.slice(1)) }
    case "acquired": {
      const [, , version] = words
      const stateVersion = version === undefined ? undefined : revision(version)
      return { kind: verb, request, generation: revision(second), stateVersion }
    }
    case "acquire-denied":
      return { kind: verb, request, because: denialWritten(words.slice(1)) }
    case "activation-ready":
    case "released":
      return { kind: verb, request }
    case "activation-failed":
      return { kind: verb, request, cause: new Error(detail) }
    case "release-failed":
      return { kind: verb, request, detail }
    default:
      expect.fail(`a script says ${verb}`)
  }
}

function denialWritten([kind = "", ...words]: readonly string[]): Denial {
  const [node = "", generation] = words
  if (kind === "owned") return { kind, node: nodeNamed(node), generation: revision(generation) }
  return { kind: kind as "fenced" | "leaving" | "unavailable", detail: words.join(" ") }
}

function whereabouts([node = "", at]: readonly string[]): Whereabouts {
  if (node === "absent") return { kind: "absent", revision: revision(at) }
  return { kind: "placed", node: nodeNamed(node), generation: revision(at) }
}

/** Makes a topology in which every node hosts `T`, except those with a `-`. */
function topologyOf(version: number, names: readonly string[]): Topology {
  const nodes = names.map((name) => nodeNamed(name.slice(0, 1)))
  const hosts = nodes.filter((_node, at) => !/[-~]$/.test(names[at] as string)).map((node) => ({ node }))
  /** A digit after the name is the version that the node knows, if it is not 1. */
  const versionOf = ({ host }: NodeId) =>
    Number(/\d/.exec(names.find((name) => name.startsWith(host)) ?? "")?.[0] ?? 1)
  return {
    version,
    candidates: (type, version = 0) =>
      type === "T" ? hosts.filter(({ node }) => versionOf(node) >= version) : [],
    has: (node) => nodes.some((one) => one.equals(node)),
    isLeaving: (node) => names.includes(`${node.host}~`),
  }
}

function resolutionText(resolution: Resolution): string {
  if (resolution.kind !== "pending") return answerText(resolution)
  const { request, waiter, commands } = resolution
  return `pending r${request} w${waiter}  ${commandsText(commands)}`
}

function commandsText(commands: readonly PlacementCommand[]): string {
  return commands.map((command) => `-> ${commandText(command)}`).join("  ")
}

function commandText(command: PlacementCommand): string {
  switch (command.kind) {
    case "try-acquire":
    case "look-up":
      return `${command.kind} r${command.request} ${command.id.key}`
    case "ensure-activation":
    case "release":
      return `${command.kind} r${command.request} ${command.id.key} @${command.generation}`
    case "settle":
      return `w${command.waiter} ${answerText(command.answer)}`
  }
}

function answerText(answer: Answer): string {
  switch (answer.kind) {
    case "local":
      return `local @${answer.generation}`
    case "remote":
      return `remote ${nameOf(answer.node)}${generationText(answer.generation)}`
    case "refused":
      return `refused: ${refusalText(answer.refusal)}`
  }
}

function refusalText(refusal: Refusal): string {
  const step = refusal.reason === "denied" ? ` (${refusal.step})` : ""
  const cause = "cause" in refusal ? `, by ${refusal.cause}` : ""
  return `${refusal.reason}${step}, ${refusal.because}${cause}`
}

function eventText(event: PlacementEvent): string {
  switch (event.kind) {
    case "became":
      return `became ${event.state}: ${event.because}`
    case "topology-changed":
      return `${event.kind} ${event.version}`
    case "member-left":
      return `${event.kind} ${nameOf(event.node)}`
    case "resolved": {
      const { id, node, generation, by, waiters } = event
      return `resolved ${id.key}: ${nameOf(node)}${generationText(generation)} by ${by}, ${waiters} waited`
    }
    case "look-up-failed":
      return `${event.kind} ${event.id.key}: ${event.detail}`
    case "lock-denied": {
      const { because } = event
      const why = because.kind === "owned" ? `${nameOf(because.node)} @${because.generation}` : because.detail
      return `${event.kind} ${event.id.key}: ${because.kind}, ${why}`
    }
    case "activation-failed":
      return `${event.kind} ${event.id.key} @${event.generation}: ${event.cause}`
    case "release-failed":
      return `${event.kind} ${event.id.key} @${event.generation}: ${event.detail}`
    case "later-version":
      return `${event.kind} ${event.id.key} @${event.generation}: v${event.stateVersion}`
    case "activated":
    case "released":
    case "passivated":
      return `${event.kind} ${event.id.key} @${event.generation}`
    case "cache-stale":
    case "cache-learned":
      return `${event.kind} ${event.id.key}: ${nameOf(event.node)} @${event.generation}`
    case "missed":
      return `missed ${event.count}`
  }
}

function snapshotText({ state, topology, requests, authorities, counts }: CoordinatorSnapshot): string {
  const indent = `\n${" ".repeat(MARGIN)}`
  return [
    `${state}, topology ${topology}`,
    ...requests.map(({ request, id, stage, isCancelled, waiters, since }) => {
      return `r${request} ${id.key} ${stage}${isCancelled ? ", cancelled" : ""}, ${waiters} wait, since ${since}`
    }),
    ...authorities.map(({ id, node }) => `${id} named ${nameOf(node)}`),
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(", "),
  ].join(indent)
}

function generationText(generation: number | undefined): string {
  return generation === undefined ? "" : ` @${generation}`
}

function revision(text = ""): number {
  return Number(text.slice(1))
}

function idNamed(name: string): ActorId {
  return ActorId.parse(name.includes("::") ? name : `ns::${name.includes("/") ? name : `T/${name}`}`)
}

function nodeNamed(name: string): NodeId {
  return NodeId.of(name, 1, "0".repeat(16))
}

function nameOf(node: NodeId): string {
  return node.host
}
