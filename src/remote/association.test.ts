import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { Association } from "./association.js"
import type {
  AssociationCommand,
  AssociationEvent,
  AssociationState,
  AssociationTerms,
} from "./association-protocol.js"
import type { DeferredCount } from "./deferred-queue.js"
import type { DisconnectReason } from "./disconnect-reason.js"

test("decides as its scenarios tell", async () => {
  const scenarios = [
    scenario(
      "what was deferred leaves first, in order",
      {},
      `0    send one
       0    send two
       40   established z1
       40   write
       40   write
       40   write`,
    ),
    scenario(
      "at most so many wait for one node, and there is room again when one has left",
      { perAuthority: 2 },
      `0    send one
       1    send two
       2    send three
       3    withdraw one
       4    send four
       5    established z1
       5    write
       5    write
       5    write`,
    ),
    scenario(
      "at most so many wait for all nodes together",
      { total: 3 },
      `0    x: send one
       0    y: send two
       0    y: send three
       0    x: send four
       0    z: send five
       10   y: established z1
       10   y: write
       10   x: send six
       10   z: send seven`,
    ),
    scenario(
      "a node whose message found no room is dialled all the same once others wait for it, and not before",
      { total: 1 },
      `0    x: send one
       0    y: send two
       1    x: withdraw one
       2    y: send three`,
    ),
    scenario(
      "at most so many bytes wait for one node",
      { bytes: 100 },
      `0    send one 60
       0    send two 41
       0    send three 40
       0    send four 0
       0    send five 1
       1    withdraw one
       2    send six 60
       2    send seven 101`,
    ),
    scenario(
      "what waits too long is refused, each at its own time",
      {},
      `0    send one
       700  send two
       800  dial-failed unreachable
       1550 tick
       4999 tick
       5000 tick
       5699 tick
       5700 tick`,
    ),
    scenario(
      "a tick at the instant that it asked for is never for nothing, whatever fractions say",
      {},
      `0.1    send one
       0.1    established z1
       0.1    dropped ended
       750.1  tick
       750.3  dial-failed unreachable
       1500.3 tick
       5000.1 tick`,
    ),
    scenario(
      "the time that a message has is counted from its sending, also while the node was connected",
      {},
      `0    established z1
       100  send one
       4000 dropped ended
       4750 tick
       5100 tick`,
    ),
    scenario(
      "a message that was withdrawn is neither sent nor refused",
      {},
      `0    send one
       0    send two
       0    withdraw one
       0    withdraw one
       10   established z1
       10   write
       10   withdraw two
       10   write`,
    ),
    scenario(
      "each wait between dials is twice the last, half of it by chance, up to the most",
      { unreachableAfterMs: 100_000, jitters: [1, 0, 0.5, 1, 0, 0.5] },
      `0     watched
       10    dial-failed unreachable
       1009  tick
       1010  tick
       1020  dial-failed wrong-namespace
       2020  tick
       2030  dial-failed unreachable
       5030  tick
       5040  dial-failed unreachable
       13040 tick
       13050 dial-failed unreachable
       17050 tick
       17060 dial-failed unreachable
       23060 tick
       23100 established z1
       23200 dropped ended
       23200 send two`,
    ),
    scenario(
      "a send that comes during a wait does not dial, the first one after it does",
      {},
      `0    send one
       10   dial-failed unreachable
       500  send two
       759  send three
       760  send four`,
    ),
    scenario(
      "the wait is short while something waits, also where it began when nothing did",
      { deferMs: 60_000 },
      `0     watched
       10    dial-failed unreachable
       760   tick
       770   dial-failed unreachable
       2270  tick
       2280  dial-failed unreachable
       5280  tick
       5290  dial-failed unreachable
       5300  send one
       6790  tick
       6800  dial-failed unreachable
       8300  tick
       8310  dial-failed unreachable
       8400  withdraw one
       9810  tick
       14310 tick`,
    ),
    scenario(
      "where the shortest wait is longer than that, it is kept to",
      { fromMs: 4_000, deferMs: 60_000 },
      `0     send one
       10    dial-failed unreachable
       3010  tick
       3020  dial-failed unreachable
       6020  tick`,
    ),
    scenario(
      "a node that is seen to be alive is dialled at once, but not again and again",
      { deferMs: 60_000, jitters: [1, 1, 1] },
      `0     watched
       10    dial-failed unreachable
       500   alive
       1000  tick
       1010  dial-failed unreachable
       1020  alive
       2000  alive
       2010  dial-failed unreachable
       2020  alive
       3000  tick
       3100  established z1`,
    ),
    scenario(
      "a dial that nobody answers is given up for another once the node is seen to be alive",
      { deferMs: 60_000 },
      `0     send one
       1999  alive
       2000  alive
       3999  alive
       4000  dial-answered
       9000  alive
       9100  established z1`,
    ),
    scenario(
      "that a node is alive is of no interest where nothing waits, where it is connected, and in quarantine",
      {},
      `0     alive
       10    send one
       20    established z1
       30    alive
       40    violated z1 nonsense
       50    alive`,
    ),
    scenario(
      "nobody is dialled again for whom nothing waits",
      {},
      `0    established z1
       100  dropped ended
       5000 tick
       9000 send one`,
    ),
    scenario(
      "a dial is not repeated once what wanted it is gone",
      {},
      `0    send one
       10   withdraw one
       20   dial-failed unreachable
       5000 tick`,
    ),
    scenario(
      "what waits at a drop is dialled for, after a wait",
      {},
      `0    established z1
       100  send one
       200  dropped silent
       950  tick
       990  established z1
       990  write`,
    ),
    scenario(
      "what waits at a drop beyond the limit of a node that is not connected is refused, the newest of it",
      { perAuthority: 2 },
      `0    established z1
       0    send one
       0    send two
       0    send three
       0    send four
       0    withdraw one
       0    send five
       10   dropped unreachable`,
    ),
    scenario(
      "two nodes dial each other, and this one is the lower: its own dial stands",
      {},
      `0    judge z1
       0    send one
       1    dial-answered
       1    judge z1
       9    established z1
       9    judge z1`,
    ),
    scenario(
      "a dial that nobody has answered does not keep the peer out",
      {},
      `0    send one
       1    judge z1
       2    established z1
       2    write`,
    ),
    scenario(
      "nor does the next one, after one that was answered and failed",
      {},
      `0    send one
       1    dial-answered
       2    dial-failed unreachable
       1500 tick
       1501 judge z1`,
    ),
    scenario(
      "two nodes dial each other, and this one is the higher: its dial is called off",
      {},
      `0    send one
       1    judge a1
       2    established a1
       3    dial-failed duplicate
       3    write`,
    ),
    scenario(
      "two nodes dial each other, and the refusal comes before the other's dial",
      {},
      `0    send one
       1    dial-failed duplicate
       2    judge a1
       2    established a1`,
    ),
    scenario("this node itself is refused", {}, "0 judge m1"),
    scenario(
      "another life of this node is another node",
      {},
      `0    judge m2
       0    established m2`,
    ),
    scenario(
      "the same node connects again: the new connection is used",
      {},
      `0    established z1
       5    send one
       10   judge z1
       10   established z1
       10   write`,
    ),
    scenario(
      "what broke the protocol is quarantined: what waited is refused, and so is all that follows",
      {},
      `0     established z1
       0     send one
       0     send two
       10    dropped malformed
       10    violated z1 no such frame
       20    send three
       21    send four
       21    judge z1`,
    ),
    scenario(
      "a dial that finds an impostor quarantines it",
      {},
      `0     send one
       10    violated z1 its proof is wrong
       11    send two`,
    ),
    scenario(
      "while sends are refused somebody looks now and then who is there, and finds the same node",
      {},
      `0     established z1
       0     violated z1 a bad frame
       7999  send one
       8000  send two
       8001  send three
       8010  judge z1
       8010  dial-failed quarantined
       9000  send four
       16010 send five`,
    ),
    scenario(
      "nobody looks who is there while nothing is sent",
      {},
      `0     established z1
       0     violated z1 a bad frame
       30000 tick`,
    ),
    scenario(
      "a new incarnation ends the quarantine of the address, and the old one stays out",
      {},
      `0     established a1
       0     violated a1 a bad frame
       8000  send one
       8010  judge a2
       8020  established a2
       8020  send two
       8030  write
       8040  judge a1
       60000 tick
       60000 judge a1`,
    ),
    scenario(
      "a new incarnation may come by itself",
      {},
      `0     established z1
       0     violated z1 a bad frame
       100   judge z2
       100   established z2`,
    ),
    scenario(
      "the new incarnation breaks the protocol as well: each has its own time",
      {},
      `0     established z1
       0     violated z1 a bad frame
       30000 established z2
       30000 violated z2 another bad frame
       59999 judge z1
       60000 tick
       60000 judge z1
       60000 judge z2
       90000 tick
       90000 judge z2`,
    ),
    scenario(
      "the time of the quarantine is over",
      {},
      `0     established z1
       0     violated z1 a bad frame
       5000  send one
       60000 tick
       60000 judge z1
       60001 send two`,
    ),
    scenario(
      "let in by hand: it is dialled at once",
      {},
      `0     established z1
       0     violated z1 a bad frame
       100   quarantine-lifted
       100   judge z1
       140   established z1`,
    ),
    scenario(
      "let in by hand, and not there",
      {},
      `0     established z1
       0     violated z1 a bad frame
       100   quarantine-lifted
       140   dial-failed unreachable`,
    ),
    scenario(
      "let in by hand while somebody looks who is there: that dial will do",
      {},
      `0     established a1
       0     violated a1 a bad frame
       8000  send one
       8001  quarantine-lifted
       8002  judge a1
       8003  send two
       8010  established a1
       8010  write`,
    ),
    scenario(
      "let in by hand where nobody was shut out",
      {},
      `0     quarantine-lifted
       0     send one
       1     quarantine-lifted
       2     established z1
       3     quarantine-lifted`,
    ),
    scenario(
      "shut out by hand while connected: that node, and not the next one there",
      {},
      `0     established z1
       0     send one
       10    quarantine-requested downed
       10    judge z1
       10    judge z2`,
    ),
    scenario(
      "quarantined by hand before it was ever connected: every incarnation, without a probe",
      {},
      `0     quarantine-requested by hand
       0     judge z1
       0     judge z2
       9000  send one
       60000 tick
       60000 judge z1`,
    ),
    scenario(
      "shut out by hand while it is being dialled",
      {},
      `0     send one
       10    quarantine-requested by hand
       20    quarantine-lifted
       30    established z1`,
    ),
    scenario(
      "shut out by hand once more: the time begins anew",
      {},
      `0     established z1
       0     quarantine-requested by hand
       100   quarantine-requested once more
       60000 tick
       60100 tick`,
    ),
    scenario(
      "a violation is forgiven after five minutes, since another may have committed it; by hand it lasts as long as is set",
      { quarantineMs: 432_000_000 },
      `0      established z1
       0      violated z1 a bad frame
       299999 judge z1
       300000 tick
       300000 judge z1
       300001 established z1
       300002 quarantine-requested by hand
       600002 judge z1
       432300001 judge z1`,
    ),
    scenario(
      "a peer that reads too slowly: the new message gives way",
      { bytes: 100, perAuthority: 1 },
      `0    established z1
       0    send one 60
       0    send two 40
       0    send three 1
       1    write
       1    send four 61
       1    send five 60`,
    ),
    scenario(
      "a peer that reads too slowly: the oldest give way",
      { bytes: 100, overflow: "drop-oldest" },
      `0    established z1
       0    send one 30
       0    send two 30
       0    send three 40
       1    send four 50
       2    send five 101
       3    send six 100
       4    write`,
    ),
    scenario(
      "dropping the oldest is for a connected peer; one that is not connected gets no more than it has room for",
      { bytes: 100, overflow: "drop-oldest" },
      `0    send one 60
       0    send two 60`,
    ),
    scenario(
      "what waits for a connected peer waits as long as it takes",
      {},
      `0     established z1
       0     send one
       90000 tick
       90000 write`,
    ),
    scenario(
      "kept by membership: dialled again and again with short delays, and never given up",
      { toMs: 30_000 },
      `0     kept
       10    dial-failed unreachable
       1000  tick
       1010  dial-failed unreachable
       3010  tick
       3020  dial-failed unreachable
       5020  tick
       5040  established z1
       5050  dropped ended
       6050  tick
       6060  dial-failed unreachable
       6070  released
       60000 tick`,
    ),
    scenario(
      "watched: dialled, and given up when it stays out of reach",
      {},
      `0     watched
       10    dial-failed unreachable
       760   tick
       800   dial-failed unreachable
       9999  tick
       10000 tick
       10000 unwatched`,
    ),
    scenario(
      "watched: a connection in time is all that is needed",
      {},
      `0     watched
       9000  established z1
       10000 tick
       20000 dropped ended
       20750 tick
       21000 established z1
       30000 tick`,
    ),
    scenario(
      "watched: out of reach counts from the drop",
      {},
      `0     watched
       10    established z1
       50000 dropped silent
       50750 tick
       50800 dial-failed unreachable
       60000 tick
       60000 unwatched`,
    ),
    scenario(
      "watched: a node that said goodbye is given up at once",
      {},
      `0     established z1
       0     watched
       100   dropped left
       100   unwatched`,
    ),
    scenario(
      "watched: a node that is quarantined is given up at once, and so is every watch that follows",
      {},
      `0     established z1
       0     watched
       100   violated z1 a bad frame
       100   unwatched
       200   watched
       200   unwatched`,
    ),
    scenario(
      "nobody watches any more: nobody is told, nobody is dialled",
      {},
      `0     watched
       10    dial-failed unreachable
       500   unwatched
       20000 tick`,
    ),
    scenario(
      "watching anew begins the time anew",
      {},
      `0     watched
       10    dial-failed unreachable
       500   unwatched
       600   watched
       900   watched
       10599 tick
       10600 tick`,
    ),
    scenario(
      "this node becomes its next incarnation: connected again at once, and what waited leaves first",
      {},
      `0     established z1
       0     send one
       10    reincarnated m2
       10    send two
       40    established z1
       40    write
       40    write`,
    ),
    scenario(
      "this node becomes its next incarnation: connected again for the peer's sake, once, if nothing waits here",
      {},
      `0     established z1
       10    reincarnated m2
       20    dial-failed unreachable
       5000  tick`,
    ),
    scenario(
      "this node becomes its next incarnation: nobody is dialled with whom there is nothing",
      {},
      "0 reincarnated m2",
    ),
    scenario(
      "this node becomes its next incarnation: the dial of the last one is called off for another",
      {},
      `0     send one
       5     reincarnated m2
       9     established z1
       9     write`,
    ),
    scenario(
      "this node becomes its next incarnation: what the last one was refused is tried at once, and waited for anew",
      {},
      `0     send one
       10    dial-failed quarantined
       760   tick
       770   dial-failed quarantined
       780   reincarnated m2
       790   dial-failed unreachable
       1540  tick`,
    ),
    scenario(
      "this node becomes its next incarnation: as at a drop, what is beyond the limit is refused, the newest of it",
      { perAuthority: 2 },
      `0     established z1
       0     send one
       0     send two
       0     send three
       10    reincarnated m2
       5000  tick`,
    ),
    scenario(
      "this node becomes its next incarnation: all watched actors are unreachable from then on",
      {},
      `0     watched
       10    established z1
       500   reincarnated m2
       600   dial-failed unreachable
       10499 tick
       10500 tick`,
    ),
    scenario(
      "this node becomes its next incarnation: quarantined nodes stay quarantined, and are not probed as the last one",
      {},
      `0     established z1
       0     violated z1 a bad frame
       8000  send one
       8001  reincarnated m2
       8002  judge z1
       8003  send two
       16000 send three`,
    ),
    scenario(
      "this node becomes its next incarnation: that one is itself from then on, and the last one is another",
      {},
      `0     judge m1
       0     judge m2
       1     reincarnated m2
       2     judge m1
       2     judge m2`,
    ),
    scenario(
      "what comes late is passed over",
      {},
      `0     dropped ended
       0     established z1
       5     dial-failed unreachable
       10    dropped ended
       11    dropped ended`,
    ),
  ]
  const golden = join(import.meta.dirname, "association.golden.txt")
  await expect(`${head}\n\n${scenarios.join("\n\n")}\n`).toMatchFileSnapshot(golden)
})

test("whatever comes: every message has one fate, in order; one dial at a time; and it never wakes for nothing", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 80, size: "max" }), (happenings) => {
      const all = { count: 0 }
      const association = associationOf(
        () => nodeNamed("m1"),
        all,
        terms,
        () => 0.5,
      )
      const sent: NamedMessage[] = []
      const ended: NamedMessage[] = []
      let written = -1
      let isDialling = false
      let now = 0
      for (const { kind, afterMs, pick } of happenings) {
        now += afterMs
        if (kind === "write") {
          const message = association.next()
          if (message !== undefined) {
            expect(sent.indexOf(message)).toBeGreaterThan(written)
            written = sent.indexOf(message)
            ended.push(message)
          }
        } else if (kind === "withdraw") {
          const message = sent[pick % Math.max(1, sent.length)]
          if (message !== undefined && association.queue.withdraw(message)) ended.push(message)
        } else {
          const event = eventOf(kind, sent, pick)
          if (event.kind === "dial-failed" && !isDialling) continue
          if (event.kind === "established" && association.judge(event.node, now) !== undefined) continue
          for (const command of association.handle(event, now)) {
            if (command.kind === "refuse") ended.push(...command.messages)
            if (command.kind === "dial") expect(isDialling).toBe(false)
            if (command.kind === "abandon-dial") expect(isDialling).toBe(true)
            if (command.kind === "dial") isDialling = true
            if (command.kind === "abandon-dial") isDialling = false
          }
          if (event.kind === "dial-failed") isDialling = false
          if (event.kind === "tick") expect(association.wakeAt ?? now + 1).toBeGreaterThan(now)
        }
        const waiting = sent.filter((message) => message.isWaiting)
        expect(new Set([...waiting, ...ended]).size).toBe(sent.length)
        expect(waiting.length + ended.length).toBe(sent.length)
        expect([association.waiting, all.count]).toEqual([waiting.length, waiting.length])
      }
    }),
    { numRuns: 300 },
  )
})

test("no more incarnations are shut out than anybody could mean: the oldest is forgotten", () => {
  const association = associationOf(
    () => nodeNamed("m1"),
    { count: 0 },
    terms,
    () => 0.5,
  )
  for (let life = 1; life <= 1_000; life += 1) {
    association.handle({ kind: "violated", node: nodeNamed(`z${life}`), because: "a bad frame" }, 0)
  }
  const refused = Array.from({ length: 1_000 }, (_, before) => before + 1).filter(
    (life) => association.judge(nodeNamed(`z${life}`), 0) === "quarantined",
  )
  expect(refused.length).toBeGreaterThan(4)
  expect(refused.length).toBeLessThan(200)
  expect(refused.at(-1)).toBe(1_000)
  expect(refused[0]).toBe(1_001 - refused.length)
})

const kinds = [
  "send",
  "send",
  "send",
  "tick",
  "write",
  "withdraw",
  "dial-answered",
  "dial-failed",
  "established",
  "dropped",
  "violated",
  "quarantine-requested",
  "quarantine-lifted",
  "reincarnated",
  "watched",
  "kept",
  "alive",
] as const

const happening = fc.record({
  kind: fc.constantFrom(...kinds),
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3_000 }), fc.constant(60_000)),
  pick: fc.nat(99),
})

function eventOf(kind: string, sent: NamedMessage[], pick: number): AssociationEvent<NamedMessage> {
  const node = nodeNamed(pick % 2 === 0 ? "z1" : "z2")
  switch (kind) {
    case "send": {
      const message = { name: String(sent.length), bytes: 10 * pick, isWaiting: false }
      sent.push(message)
      return { kind, message }
    }
    case "dial-failed":
    case "dropped":
      return { kind, because: "unreachable" }
    case "established":
      return { kind, node }
    case "violated":
      return { kind, node, because: "a bad frame" }
    case "quarantine-requested":
      return { kind, because: "by hand" }
    case "watched":
      return { kind, watched: pick % 2 === 0 }
    case "kept":
      return { kind, isKept: pick % 2 === 0 }
    case "alive":
    case "dial-answered":
    case "quarantine-lifted":
    case "reincarnated":
      return { kind }
    default:
      return { kind: "tick" }
  }
}

interface NamedMessage {
  readonly name: string
  readonly bytes: number
  isWaiting: boolean
}

const terms: AssociationTerms = {
  perAuthority: 8,
  total: 12,
  bytes: 1_000,
  overflow: "refuse",
  deferMs: 5_000,
  quarantineMs: 60_000,
  fromMs: 1_000,
  toMs: 8_000,
  unreachableAfterMs: 10_000,
}

const head = `Unless a scenario says otherwise: ${written(terms)}, chance 0.5.
This node is m1, until it is reincarnated; a1 is lower, z1 is higher, z2 is its next incarnation. A message has 10 bytes.

    ms  what comes                      state, how many wait           wakes  what is to be done`

type Options = Partial<AssociationTerms> & { readonly jitters?: readonly number[] }

/** A script, a line for each thing that happens, as text with what came of each. */
function scenario(name: string, { jitters, ...changed }: Options, script: string): string {
  const chances = [...(jitters ?? [])]
  const all: DeferredCount = { count: 0 }
  const associations = new Map<string, Association<NamedMessage>>()
  const messages = new Map<string, NamedMessage>()
  let self = nodeNamed("m1")
  const lines = script.split("\n").map((line) => {
    const [at = "", ...rest] = line.trim().split(/\s+/)
    const prefix = rest[0]?.endsWith(":") ? rest.shift() : undefined
    const [verb = "", ...words] = rest
    const known = associations.get(prefix ?? "")
    const association =
      known ??
      associationOf(
        () => self,
        all,
        { ...terms, ...changed },
        () => chances.shift() ?? 0.5,
      )
    associations.set(prefix ?? "", association)
    const came = [prefix, verb, ...words].filter((word) => word !== undefined).join(" ")
    if (verb === "reincarnated") self = nodeNamed(words[0] as string)
    const done = perform(association, messages, verb, words, Number(at))
    const { state, waiting, wakeAt } = association
    const standing = `${stateText(state)}, ${waiting}${association.isIdle ? ", idle" : ""}`
    return `${at.padStart(6)}  ${came.padEnd(30)}  ${standing.padEnd(28)}  ${String(wakeAt ?? "-").padStart(6)}  ${done}`.trimEnd()
  })
  const differs = [written(changed), jitters && `chance ${jitters.join(", ")}`].filter((one) => one)
  return [`# ${name}`, ...(differs.length > 0 ? [`  ${differs.join(", ")}`] : []), ...lines].join("\n")
}

function perform(
  association: Association<NamedMessage>,
  messages: Map<string, NamedMessage>,
  verb: string,
  words: readonly string[],
  now: number,
): string {
  const [first = ""] = words
  switch (verb) {
    case "judge":
      return `-> ${association.judge(nodeNamed(first), now) ?? "welcome"}`
    case "write":
      return `-> ${association.next()?.name ?? "nothing"}`
    case "withdraw":
      return `-> ${association.queue.withdraw(messages.get(first) as NamedMessage) ? "withdrawn" : "too late"}`
    default: {
      const commands = association.handle(eventWritten(verb, words, messages), now)
      return commands.map((command) => `-> ${commandText(command)}`).join("  ")
    }
  }
}

function eventWritten(
  verb: string,
  words: readonly string[],
  messages: Map<string, NamedMessage>,
): AssociationEvent<NamedMessage> {
  const [first = "", ...others] = words
  switch (verb) {
    case "send": {
      const message = { name: first, bytes: Number(others[0] ?? 10), isWaiting: false }
      messages.set(first, message)
      return { kind: verb, message }
    }
    case "watched":
    case "unwatched":
      return { kind: "watched", watched: verb === "watched" }
    case "kept":
    case "released":
      return { kind: "kept", isKept: verb === "kept" }
    case "dial-failed":
      return { kind: verb, because: first as DisconnectReason }
    case "dropped":
      return { kind: verb, because: first as DisconnectReason }
    case "established":
      return { kind: verb, node: nodeNamed(first) }
    case "violated":
      return { kind: verb, node: nodeNamed(first), because: others.join(" ") }
    case "quarantine-requested":
      return { kind: verb, because: words.join(" ") }
    case "alive":
    case "dial-answered":
    case "quarantine-lifted":
    case "reincarnated":
    case "tick":
      return { kind: verb }
    default:
      expect.fail(`a script says ${verb}`)
  }
}

function commandText(command: AssociationCommand<NamedMessage>): string {
  switch (command.kind) {
    case "dial":
    case "abandon-dial":
      return command.kind
    case "close":
    case "give-up-watching":
      return `${command.kind}: ${command.because}`
    case "refuse":
      return `refuse ${command.messages.map(({ name }) => name).join(", ")}: ${command.because}`
    case "connected":
      return `connected ${nameOf(command.node)}`
    case "lost":
      return `lost ${nameOf(command.node)}: ${command.because}`
    case "failed":
      return `failed ${command.attempts}: ${command.because}`
    case "quarantined":
      return `quarantined ${nameOf(command.node)} for ${command.durationMs}: ${command.because}`
  }
}

function stateText(state: AssociationState): string {
  switch (state.kind) {
    case "unresolved":
      return state.kind
    case "connected":
      return `${state.kind} ${nameOf(state.node)}`
    case "quarantined":
      return `${state.kind} ${nameOf(state.node)}`
  }
}

function written(changed: Partial<AssociationTerms>): string {
  return Object.entries(changed)
    .map(([term, value]) => `${term} ${value}`)
    .join(", ")
}

/** `z2` is the second incarnation of the node at `z`. */
function nodeNamed(name: string): NodeId {
  return NodeId.of(name.slice(0, 1), 1, Number(name.slice(1)).toString(16).padStart(16, "0"))
}

function nameOf(node: NodeId | undefined): string {
  return node === undefined ? "all lives" : `${node.host}${Number.parseInt(node.incarnation, 16)}`
}

function associationOf(
  self: () => NodeId,
  all: DeferredCount,
  terms: AssociationTerms,
  jitter: () => number,
): Association<NamedMessage> {
  return new Association({ authority: "z", self, terms, jitter, all })
}
