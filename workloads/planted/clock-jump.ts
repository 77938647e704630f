import type { Clock } from "../../src/index.js"
import type { Life, Workload } from "../../src/sim/index.js"
import { hostOf, Remote, serve, sleep } from "./calls.js"
import { oneHolderAtATime } from "./one-holder.js"
import type { Version } from "./version.js"

/**
 * An arbiter lets one of several candidates lead, for as long as its lease lasts or is renewed. The arbiter
 * counts a lease from when it gives it, the leader counts a shorter one from before it asked, so the leader
 * stops first.
 *
 * That holds for clocks that only run. The buggy version counts by the wall clock: when somebody sets the
 * arbiter's forward a lease is over at once, and when somebody sets the leader's back it does not end. The
 * mended one counts by the monotonic clock.
 */
export function clockJump(version: Version): Workload {
  return {
    name: `clock-jump-${version}`,
    about: "a leader by lease, on clocks that jump",
    faults: ["crash", "pause", "pause-in-call", "reset", "slow-network", "clock-drift", "clock-jump"],
    floors: { operations: 20, faults: 1 },
    async run(stage) {
      oneHolderAtATime(stage)
      const leaseMs = stage.knob("leaseMs", [2_000, 10_000])
      stage.start("arbiter", (life) => arbitrate(life, { leaseMs, version }), { killable: false })
      const host = await hostOf(stage, "arbiter")
      for (const name of ["ann", "bob", "cid"]) {
        stage.start(name, (life) => lead(life, { host, leaseMs, version, led: () => stage.operation() }))
      }
      await stage.sleep(40_000)
    },
  }
}

interface Campaign {
  readonly candidate: string
}

/** The term, if it is the candidate's. */
type Answer = number | null

interface Terms {
  readonly leaseMs: number
  readonly version: Version
}

function arbitrate(life: Life, { leaseMs, version }: Terms): Promise<void> {
  let leader = ""
  let term = 0
  let untilMs = 0
  return serve<Campaign, Answer>(life, ({ candidate }) => {
    const nowMs = read(life.ports.clock, version)
    if (candidate !== leader && nowMs < untilMs) return null
    if (candidate !== leader) {
      life.sometimes("another candidate leads", leader !== "")
      term += 1
    }
    leader = candidate
    untilMs = nowMs + leaseMs
    return term
  })
}

/** Campaigns without end, and leads while it may. */
async function lead(
  life: Life,
  { host, leaseMs, version, led }: Terms & { readonly host: string; readonly led: () => void },
): Promise<void> {
  const { clock, random } = life.ports
  const arbiter = new Remote<Campaign, Answer>(life, host)
  let lease = { term: 0, untilMs: Number.NEGATIVE_INFINITY }
  for (;;) {
    const askedMs = read(clock, version)
    const term = await arbiter.call({ candidate: life.name }, 500).catch(() => null)
    if (term !== null) lease = { term, untilMs: askedMs + leaseMs * LEADERS_SHARE }
    const acts = 1 + (random.uint32() % 10)
    for (let act = 0; act < acts; act += 1) {
      if (read(clock, version) < lease.untilMs) {
        life.record({ kind: "act", grant: `term ${lease.term} of ${life.name}` })
        led()
      }
      await sleep(life, 50)
    }
  }
}

function read(clock: Clock, version: Version): number {
  return version === "buggy" ? clock.wallMs() : clock.monotonicMs()
}

/** What a leader makes of its lease. Clocks apart by a tenth leave enough. */
const LEADERS_SHARE = 0.8
