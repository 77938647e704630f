import { join } from "node:path"
import { expect, test } from "vitest"
import type { LeaseCommand, LeaseEvent } from "./lease-protocol.js"
import type { Instant } from "./lease-terms.js"
import { NodeLease } from "./node-lease.js"

const terms = { ttlMs: 5_000, driftMargin: 0.1 }

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation(
      "it renews every third of the ttl, and each renewal moves the deadline from when it was sent",
      [
        [20, joined(1, 7)],
        [1_666, tick],
        [1_667, tick],
        [1_900, { kind: "renewed", request: 2, lease: 8 }],
        [3_333, tick],
        [3_334, tick],
        [6_166, tick],
        [6_167, tick],
        [6_168, tick],
      ],
    ),
    conversation("a join that is not confirmed is given up; the next attempt is a new incarnation", [
      [100, { kind: "join-failed", request: 1 }],
      [200, joined(1, 7)],
    ]),
    conversation("a lost answer does not extend the lease; the holder reads the outcome from the store", [
      [20, joined(1, 7)],
      [1_667, tick],
      [3_000, { kind: "renewal-unsure", request: 2 }],
      [3_010, { kind: "looked", request: 3, lease: 9, record: 7 }],
      [3_020, { kind: "renewed", request: 4, lease: 10 }],
      [4_677, tick],
    ]),
    conversation("a yes that comes when it is not waited for any more counts from when it was sent", [
      [20, joined(1, 7)],
      [1_667, tick],
      [3_084, { kind: "renewal-unsure", request: 2 }],
      [3_090, { kind: "renewed", request: 2, lease: 8 }],
      [3_095, { kind: "looked", request: 3, lease: 8, record: 7, status: "active" }],
      [3_334, tick],
      [3_344, { kind: "renewed", request: 4, lease: 9 }],
    ]),
    conversation("also if the look had found nothing of it, and a second renewal is refused because of it", [
      [20, joined(1, 7)],
      [1_667, tick],
      [3_084, { kind: "renewal-unsure", request: 2 }],
      [3_090, { kind: "looked", request: 3, lease: 7, record: 7, status: "active" }],
      [3_100, { kind: "renewed", request: 2, lease: 8 }],
      [3_110, { kind: "renewal-unsure", request: 4 }],
      [3_120, { kind: "looked", request: 5, lease: 8, record: 7, status: "active" }],
      [3_334, tick],
    ]),
    conversation("also if the look began before it arrived, and is answered after it", [
      [20, joined(1, 7)],
      [1_667, tick],
      [3_084, { kind: "renewal-unsure", request: 2 }],
      [3_090, { kind: "renewed", request: 2, lease: 8 }],
      [3_095, { kind: "looked", request: 3, lease: 7, record: 7, status: "active" }],
      [3_334, tick],
    ]),
    conversation("a yes that is older than the last one moves nothing back", [
      [20, joined(1, 7)],
      [1_667, tick],
      [3_084, { kind: "renewal-unsure", request: 2 }],
      [3_090, { kind: "looked", request: 3, lease: 8, record: 7, status: "active" }],
      [3_100, { kind: "renewed", request: 4, lease: 9 }],
      [3_110, { kind: "renewed", request: 2, lease: 8 }],
      [4_757, tick],
    ]),
    conversation("it comes past the deadline, and the doors are open again for what is left", [
      [20, joined(1, 7)],
      [1_667, tick],
      [3_084, { kind: "renewal-unsure", request: 2 }],
      [3_917, { kind: "looked", request: 3, lease: "unanswered", record: "unanswered" }],
      [4_126, tick],
      [4_500, tick],
      [4_600, { kind: "renewed", request: 2, lease: 8 }],
      [4_610, { kind: "renewal-unsure", request: 4 }],
      [4_620, { kind: "looked", request: 5, lease: 8, record: 7, status: "active" }],
      [4_630, { kind: "renewed", request: 6, lease: 9 }],
    ]),
    conversation("a process that was blocked past its deadline renews first, and goes on", [
      [20, joined(1, 7)],
      [60_000, tick],
      [60_001, tick],
      [60_010, { kind: "renewed", request: 2, lease: 8 }],
    ]),
    conversation("a process that was blocked past its deadline renews first, and is refused", [
      [20, joined(1, 7)],
      [60_000, tick],
      [60_010, { kind: "renewal-unsure", request: 2 }],
      [60_020, { kind: "looked", request: 3, lease: undefined, record: undefined }],
      [60_030, { kind: "renewed", request: 2, lease: 8 }],
    ]),
    conversation("a process that was blocked past its deadline renews first, and was declared down", [
      [20, joined(1, 7)],
      [60_000, tick],
      [60_010, { kind: "renewal-unsure", request: 2 }],
      [60_020, { kind: "looked", request: 3, lease: 7, record: 9, status: "down" }],
    ]),
    conversation("the answer to what it says as it leaves comes between the two reads of a look", [
      [20, joined(1, 7)],
      [200, { kind: "leave" }],
      [2_350, { kind: "renewal-unsure", request: 2 }],
      [2_360, { kind: "renewed", request: 2, lease: 8 }],
      [2_370, { kind: "looked", request: 3, lease: 7, record: 7, status: "active" }],
    ]),
    conversation("one that is still open is sent again, and if it arrives after all the next look finds it", [
      [20, joined(1, 7)],
      [1_667, tick],
      [3_000, { kind: "renewal-unsure", request: 2 }],
      [3_010, { kind: "looked", request: 3, lease: 7, record: 7 }],
      [3_020, { kind: "renewal-unsure", request: 4 }],
      [3_030, { kind: "looked", request: 5, lease: 8, record: 7 }],
      [3_218, tick],
      [3_219, tick],
      [3_229, { kind: "renewed", request: 6, lease: 9 }],
    ]),
    conversation("a store that shows what it has and takes nothing is not asked again at once", [
      [20, joined(1, 7)],
      [1_667, tick],
      [1_668, { kind: "renewal-unsure", request: 2 }],
      [1_669, { kind: "looked", request: 3, lease: 7, record: 7, status: "active" }],
      [1_875, tick],
      [1_876, tick],
      [1_877, { kind: "renewal-unsure", request: 4 }],
      [1_878, { kind: "looked", request: 5, lease: 7, record: 7, status: "active" }],
      [4_500, tick],
    ]),
    conversation("a store that does not answer at all leaves the deadline where it is", [
      [20, joined(1, 7)],
      [1_667, tick],
      [2_500, { kind: "renewal-unsure", request: 2 }],
      [3_500, { kind: "looked", request: 3, lease: "unanswered", record: "unanswered" }],
      [3_600, tick],
      [3_709, tick],
      [4_499, tick],
      [4_500, tick],
      [4_543, { kind: "renewal-unsure", request: 4 }],
      [5_376, { kind: "looked", request: 5, lease: "unanswered", record: "unanswered" }],
      [5_377, tick],
      [5_585, tick],
    ]),
    conversation("a lease that was ended is not renewed", [
      [20, joined(1, 7)],
      [1_667, tick],
      [1_700, { kind: "renewal-unsure", request: 2 }],
      [1_710, { kind: "looked", request: 3, lease: undefined, record: undefined }],
    ]),
    conversation("a node that was declared down is fenced, however it learns of it", [
      [20, joined(1, 7)],
      [1_667, tick],
      [1_700, { kind: "renewal-unsure", request: 2 }],
      [1_710, { kind: "looked", request: 3, lease: 7, record: 9 }],
    ]),
    conversation("also by the watch, at once", [
      [20, joined(1, 7)],
      [100, { kind: "record-changed", revision: 7, status: "active" }],
      [200, { kind: "record-changed", revision: 9, status: "down" }],
    ]),
    conversation("a machine that stood still waits for a renewal", [
      [20, joined(1, 7)],
      [100, tick, 4_499],
      [100, tick, 4_500],
      [120, { kind: "renewed", request: 2, lease: 8 }, 4_520],
    ]),
    conversation("a machine that stood still asks again after a while, however many knock", [
      [20, joined(1, 7)],
      [100, tick, 4_500],
      [110, { kind: "renewal-unsure", request: 2 }, 4_510],
      [120, { kind: "looked", request: 3, lease: 7, record: 7 }, 4_520],
      [130, tick, 4_530],
      [309, tick, 4_709],
    ]),
    conversation("a wall clock that is set back means nothing", [
      [20, joined(1, 7)],
      [100, tick, -60_000],
    ]),
    conversation("a leaving node says so with a renewal, starts nothing, and gives up when all has settled", [
      [20, joined(1, 7)],
      [100, { kind: "settled" }],
      [200, { kind: "leave" }],
      [205, { kind: "leave" }],
      [210, { kind: "record-changed", revision: 8, status: "leaving" }],
      [220, { kind: "renewed", request: 2, lease: 8 }],
      [1_866, tick],
      [1_867, tick],
      [1_900, { kind: "renewed", request: 3, lease: 9 }],
      [2_000, { kind: "settled" }],
      [2_010, { kind: "settled" }],
      [2_100, tick],
    ]),
    conversation("a node that leaves during a renewal announces it with the next one, at once", [
      [20, joined(1, 7)],
      [1_667, tick],
      [1_700, { kind: "leave" }],
      [1_710, { kind: "renewed", request: 2, lease: 8 }],
      [1_720, { kind: "renewed", request: 3, lease: 9 }],
      [1_730, { kind: "settled" }],
    ]),
    conversation("one that leaves while it looks says so with the next renewal", [
      [20, joined(1, 7)],
      [1_667, tick],
      [1_700, { kind: "renewal-unsure", request: 2 }],
      [1_710, { kind: "leave" }],
      [1_720, { kind: "looked", request: 3, lease: 8, record: 7, status: "active" }],
      [1_876, tick],
      [1_886, { kind: "renewed", request: 4, lease: 9 }],
    ]),
    conversation("the answer to what it said is lost, and a look finds that it was heard", [
      [20, joined(1, 7)],
      [200, { kind: "leave" }],
      [900, { kind: "renewal-unsure", request: 2 }],
      [910, { kind: "looked", request: 3, lease: 8, record: 8, status: "leaving" }],
      [920, { kind: "renewed", request: 4, lease: 9 }],
      [930, { kind: "settled" }],
    ]),
    conversation(
      "the answer to what it said is lost, and a look finds that it was not heard: it is said again",
      [
        [20, joined(1, 7)],
        [200, { kind: "leave" }],
        [900, { kind: "renewal-unsure", request: 2 }],
        [910, { kind: "looked", request: 3, lease: 7, record: 7, status: "active" }],
        [920, { kind: "renewed", request: 4, lease: 8 }],
      ],
    ),
    conversation("the lease was looked at before what it said arrived, and the record after", [
      [20, joined(1, 7)],
      [200, { kind: "leave" }],
      [900, { kind: "renewal-unsure", request: 2 }],
      [910, { kind: "looked", request: 3, lease: 7, record: 8, status: "leaving" }],
      [920, { kind: "renewal-unsure", request: 4 }],
      [930, { kind: "looked", request: 5, lease: 8, record: 8, status: "leaving" }],
      [1_119, tick],
      [1_129, { kind: "renewed", request: 6, lease: 9 }],
    ]),
    conversation("a leaving node that is declared down is fenced: by a look", [
      [20, joined(1, 7)],
      [200, { kind: "leave" }],
      [900, { kind: "renewal-unsure", request: 2 }],
      [910, { kind: "looked", request: 3, lease: 7, record: 8, status: "down" }],
      [920, { kind: "settled" }],
    ]),
    conversation("a leaving node that is declared down is fenced: by the watch", [
      [20, joined(1, 7)],
      [200, { kind: "leave" }],
      [220, { kind: "renewed", request: 2, lease: 8 }],
      [230, { kind: "record-changed", revision: 9, status: "down" }],
    ]),
    conversation("a record that says leaving is nobody's but a leaving node's", [
      [20, joined(1, 7)],
      [1_667, tick],
      [1_700, { kind: "renewal-unsure", request: 2 }],
      [1_710, { kind: "looked", request: 3, lease: 8, record: 8, status: "leaving" }],
    ]),
    conversation("a leaving node gives up the lease that it knows, also during a renewal", [
      [20, joined(1, 7)],
      [200, { kind: "leave" }],
      [210, { kind: "settled" }],
      [220, { kind: "renewed", request: 2, lease: 8 }],
    ]),
    conversation("a leaving node that cannot renew waits like any other, and may give up what it knows", [
      [20, joined(1, 7)],
      [200, { kind: "leave" }],
      [4_499, tick],
      [4_500, tick],
      [4_510, { kind: "settled" }],
    ]),
    conversation("in doubt it looks, and where all is as it knows it nothing changes", [
      [20, joined(1, 7)],
      [500, { kind: "doubt" }],
      [510, { kind: "doubt" }],
      [520, { kind: "looked", request: 2, lease: 7, record: 7, status: "active" }],
      [1_667, tick],
      [1_680, { kind: "doubt" }],
      [1_690, { kind: "renewed", request: 3, lease: 8 }],
    ]),
    conversation("in doubt it looks, and is no member any more", [
      [20, joined(1, 7)],
      [500, { kind: "doubt" }],
      [520, { kind: "looked", request: 2, lease: undefined, record: undefined }],
      [530, { kind: "doubt" }],
    ]),
    conversation("in doubt it looks, and the store does not answer: the next tick renews soon", [
      [20, joined(1, 7)],
      [500, { kind: "doubt" }],
      [600, { kind: "looked", request: 2, lease: "unanswered", record: "unanswered" }],
      [808, tick],
      [809, tick],
    ]),
    conversation("in doubt while it leaves, once it has said so", [
      [20, joined(1, 7)],
      [200, { kind: "leave" }],
      [210, { kind: "doubt" }],
      [220, { kind: "renewed", request: 2, lease: 8 }],
      [230, { kind: "doubt" }],
      [240, { kind: "looked", request: 3, lease: 8, record: 8, status: "leaving" }],
    ]),
    conversation("who has not joined has no doubts, and does not leave", [
      [10, { kind: "doubt" }],
      [12, { kind: "leave" }],
      [14, { kind: "settled" }],
      [16, { kind: "record-changed", revision: 9, status: "down" }],
      [18, tick],
      [20, joined(1, 7)],
    ]),
    conversation("a renewal that is answered after the deadline was made in time", [
      [20, joined(1, 7)],
      [1_667, tick],
      [4_600, { kind: "renewed", request: 2, lease: 8 }],
    ]),
    conversation("the watch says that the record is gone", [
      [20, joined(1, 7)],
      [30, { kind: "record-changed", revision: 9, status: "gone" }],
      [40, { kind: "record-changed", revision: 9, status: "gone" }],
    ]),
    conversation("a node that is stopped during turns gives nothing up: its lease runs out", [
      [20, joined(1, 7)],
      [100, { kind: "leave" }],
      [110, { kind: "renewed", request: 2, lease: 8 }],
      [200, { kind: "abandoned" }],
      [300, { kind: "settled" }],
      [2_000, tick],
    ]),
    conversation("a store whose history was cut fences everybody", [
      [20, joined(1, 7)],
      [30, { kind: "epoch-changed" }],
      [40, { kind: "epoch-changed" }],
    ]),
    conversation("for an event loop that is silent the lease lapses, until it is heard again", [
      [20, joined(1, 7)],
      [1_667, tick],
      [1_680, { kind: "renewed", request: 2, lease: 8 }],
      [3_000, { kind: "silent" }],
      [3_334, tick],
      [3_543, tick],
      [6_167, tick],
      [9_000, tick],
      [9_010, { kind: "heard" }],
      [9_011, { kind: "heard" }],
      [9_020, { kind: "renewed", request: 3, lease: 9 }],
    ]),
    conversation("for an event loop that is silent a renewal that was unsure is not sent again", [
      [20, joined(1, 7)],
      [1_667, tick],
      [2_000, { kind: "silent" }],
      [3_084, { kind: "renewal-unsure", request: 2 }],
      [3_090, { kind: "looked", request: 3, lease: 7, record: 7, status: "active" }],
      [3_100, { kind: "heard" }],
    ]),
    conversation("for an event loop that is silent a renewal in flight counts, and nothing is announced", [
      [20, joined(1, 7)],
      [1_667, tick],
      [1_700, { kind: "leave" }],
      [2_000, { kind: "silent" }],
      [2_010, { kind: "renewed", request: 2, lease: 8 }],
      [3_000, { kind: "heard" }],
    ]),
    conversation("answers to what is not asked any more change nothing", [
      [20, joined(1, 7)],
      [30, joined(1, 9)],
      [50, { kind: "looked", request: 2, lease: undefined, record: undefined }],
      [1_667, tick],
      [1_700, { kind: "renewal-unsure", request: 1 }],
      [1_800, { kind: "looked", request: 2, lease: undefined, record: undefined }],
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "node-lease.golden.txt"),
  )
})

test.each([false, true])(
  "a lease that was kept elsewhere goes on from when its last renewal was sent (leaving: %s)",
  (isLeaving) => {
    const known = { lease: 9, record: 7, since: at(1_000, 50_000), isLeaving }
    const lease = NodeLease.resumed(terms, at(2_000, 51_000), known)
    expect(lease.known).toEqual(known)
    expect([lease.mayAct(at(5_499, 54_499)), lease.mayAct(at(5_500, 54_499))]).toEqual([true, false])
    expect(lease.mayAct(at(5_499, 54_500))).toBe(false)
    expect(Math.round(lease.wakeAt(at(2_000, 51_000)) as number)).toBe(isLeaving ? 2_000 : 2_667)
    expect(lease.handle({ kind: "tick" }, at(2_668, 51_668))).toMatchObject([
      { kind: "renew", lease: 9, record: 7, announces: isLeaving },
    ])
  },
)

test("the holder is silent before an observer may end the lease, even if its clock is slow and the observer's fast", () => {
  const drift = terms.driftMargin
  const lease = new NodeLease(terms, at(0))
  lease.handle({ kind: "joined", request: 1, revision: 7 }, at(0))
  // The observer sees the lease the moment it is made, which is the worst case.
  const endedAtTrueMs = (terms.ttlMs * (1 + terms.driftMargin)) / (1 + drift)
  expect(lease.mayAct(at(endedAtTrueMs * (1 - drift)))).toBe(false)
})

const HEAD = `ttl 5000, margin 0.1: the holder is silent 4500 ms after it sent its last renewal that was answered.

    ms  what comes                                    may act  wakes   what is to be done
`

type Line = readonly [atMs: number, event: Told, wallMs?: number]

/** Of a renewal that was answered the conversation knows when it was sent, and what it said. */
type Told =
  | Exclude<LeaseEvent, { kind: "renewed" }>
  | { readonly kind: "renewed"; readonly request: number; readonly lease: number }

/**
 * Each line is told by a lease that was made from the snapshot of the one before: there is nothing else that
 * it knows.
 */
function conversation(title: string, lines: readonly Line[]): string {
  let lease = new NodeLease(terms, at(0))
  const renewals = new Map<number, LeaseCommand & { kind: "renew" }>()
  const told = [`# ${title}`, row(0, "begins", lease, at(0), [lease.joining])]
  for (const [atMs, event, wallMs] of lines) {
    const now = at(atMs, wallMs)
    lease = new NodeLease(terms, now, lease.snapshot)
    const commands = lease.handle(inFull(event, renewals), now)
    for (const command of commands) if (command.kind === "renew") renewals.set(command.request, command)
    told.push(row(atMs, eventText(event, wallMs), lease, now, commands))
  }
  return `${told.join("\n")}\n`
}

function inFull(event: Told, renewals: ReadonlyMap<number, LeaseCommand & { kind: "renew" }>): LeaseEvent {
  if (event.kind !== "renewed") return event
  const { sentAt, announces } = renewals.get(event.request) as LeaseCommand & { kind: "renew" }
  return { ...event, sentAt, announces }
}

function row(
  atMs: number,
  what: string,
  lease: NodeLease,
  now: Instant,
  commands: readonly LeaseCommand[],
): string {
  const may = lease.mayClaim(now) ? "yes" : lease.mayAct(now) ? "ends only" : "no"
  const wakeAt = lease.wakeAt(now)
  const wakes = wakeAt === undefined ? "-" : String(Math.round(wakeAt))
  const done = commands.map((command) => `-> ${commandText(command)}`).join("  ")
  return `${String(atMs).padStart(6)}  ${what.padEnd(44)}  ${may.padEnd(9)}${wakes.padStart(5)}   ${done}`.trimEnd()
}

function eventText({ kind, ...fields }: Told, wallMs: number | undefined): string {
  const told = Object.entries(fields).map(([name, value]) => `${name} ${value ?? "absent"}`)
  return [kind, ...told, ...(wallMs === undefined ? [] : [`(wall ${wallMs})`])].join(" ")
}

function commandText({ kind, ...fields }: LeaseCommand): string {
  const told = Object.entries(fields).map(([name, value]) => {
    if (typeof value === "boolean") return value ? name : ""
    if (name === "sentAt") return ""
    return name === "withinMs" ? `within ${Math.round(value as number)}` : `${name} ${value}`
  })
  return [kind, ...told.filter((part) => part !== "")].join(" ")
}

function joined(request: number, revision: number): Told {
  return { kind: "joined", request, revision }
}

const tick: Told = { kind: "tick" }

function at(monotonicMs: number, wallMs = monotonicMs): Instant {
  return { monotonicMs, wallMs }
}
