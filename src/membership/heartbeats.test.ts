import { describe, expect, it } from "vitest"
import { Heartbeats, type HeartbeatTerms } from "./heartbeats.js"
import { Ring } from "./ring.js"

const terms: HeartbeatTerms = {
  intervalMs: 1_000,
  threshold: 8,
  maxSamples: 200,
  minDeviationMs: 100,
  acceptablePauseMs: 3_000,
  firstEstimateMs: 1_000,
  monitored: 9,
}

describe("a node", () => {
  it("pings the nodes after it in the ring, at every interval, and looks at them in between", () => {
    const ring = new Ring(Array.from({ length: 30 }, (_, nth) => `n${nth}`))
    const heartbeats = new Heartbeats("n7", terms, 500)
    heartbeats.members(ring, 500)
    const pings: (readonly [number, number])[] = []
    for (let looks = 0; looks < 9; looks++) {
      const now = heartbeats.wakeAt
      expect(heartbeats.tick(now - 1).ping).toEqual([])
      const { ping } = heartbeats.tick(now)
      expect([[], ring.after("n7", 9)]).toContainEqual(ping)
      pings.push([now, ping.length])
    }
    expect(pings).toEqual([
      [500, 9],
      [750, 0],
      [1_000, 0],
      [1_250, 0],
      [1_500, 9],
      [1_750, 0],
      [2_000, 0],
      [2_250, 0],
      [2_500, 9],
    ])
    heartbeats.members(new Ring(["n7"]), 2_600)
    expect(heartbeats.tick(3_500).ping).toEqual([])
  })

  it("pings in time though its looks are late", () => {
    const { heartbeats } = observing("b")
    const pings = [0, 330, 660, 990, 1_000].filter((now) => heartbeats.tick(now).ping.length > 0)
    expect(pings).toEqual([0, 1_000])
  })

  it("gives a node that never answers the time of a first estimate and a pause", () => {
    const { heartbeats, tickTo } = observing("b", "c")
    // Phi is 8 after 5,403 ms, so the node is silent for too long at 5,500.
    tickTo(5_500)
    expect(heartbeats.unreachable).toEqual([])
    tickTo(5_750)
    expect(heartbeats.unreachable).toEqual(["b", "c"])
  })

  it("believes a node that answers again", () => {
    const { heartbeats, tickTo } = observing("b")
    tickTo(60_000)
    expect(heartbeats.unreachable).toEqual(["b"])
    heartbeats.answered("b", 60_001)
    expect(heartbeats.unreachable).toEqual([])
    tickTo(64_500)
    expect(heartbeats.unreachable).toEqual([])
    tickTo(66_000)
    expect(heartbeats.unreachable).toEqual(["b"])
  })

  it("goes on judging a node that stays in the ring, and begins again with one that comes back", () => {
    const { heartbeats, tickTo } = observing("b", "c")
    tickTo(4_000)
    heartbeats.members(new Ring(["a", "b", "d"]), 4_000)
    tickTo(6_000)
    expect(heartbeats.unreachable).toEqual(["b"])
    heartbeats.members(new Ring(["a", "b", "c"]), 6_000)
    expect(heartbeats.unreachable).toEqual(["b"])
    tickTo(11_500)
    expect(heartbeats.unreachable).toEqual(["b"])
    tickTo(11_750)
    expect(heartbeats.unreachable).toEqual(["b", "c"])
    heartbeats.members(new Ring(["a"]), 11_750)
    expect(heartbeats.unreachable).toEqual([])
  })

  it("ignores the answers of nodes that it does not observe", () => {
    const { heartbeats, tickTo } = observing("b")
    tickTo(10)
    heartbeats.answered("x", 10)
    tickTo(6_000)
    expect(heartbeats.unreachable).toEqual(["b"])
  })

  it("suspects nobody for a pause of its own, in whatever order it takes things up again", () => {
    for (const first of ["tick", "answer", "members"]) {
      const { heartbeats, tickTo } = observing("b", "c")
      calmMinute(heartbeats, tickTo)
      // It is paused from 60,001 to 90,000, and takes the time from 60,250 on for its pause.
      if (first === "answer") heartbeats.answered("b", 90_000)
      if (first === "members") heartbeats.members(new Ring(["a", "b", "c"]), 90_000)
      heartbeats.tick(90_000)
      tickTo(94_500)
      expect(heartbeats.unreachable, first).toEqual([])
      // c was silent for 250 ms before the pause, and for 4,500 ms after it at the first of two looks.
      tickTo(94_750)
      expect(heartbeats.unreachable, first).toEqual(first === "answer" ? ["c"] : ["b", "c"])
    }
  })

  it("receives what has arrived in a pause that it has not noticed before it suspects anybody", () => {
    const { heartbeats, tickTo } = observing("b", "c")
    calmMinute(heartbeats, tickTo)
    tickTo(64_500)
    heartbeats.tick(64_850)
    heartbeats.answered("b", 64_850)
    expect(heartbeats.unreachable).toEqual([])
    tickTo(65_250)
    expect(heartbeats.unreachable).toEqual(["c"])
  })

  it("goes on suspecting a node after a pause of its own", () => {
    const { heartbeats, tickTo } = observing("b")
    tickTo(6_000)
    for (const now of [9_000, 19_000, 19_250]) {
      expect(heartbeats.unreachable).toEqual(["b"])
      heartbeats.tick(now)
      expect(heartbeats.unreachable).toEqual(["b"])
    }
    heartbeats.answered("b", 22_000)
    expect(heartbeats.unreachable).toEqual([])
  })
})

/** Answers every ping of the first minute at once. */
function calmMinute(heartbeats: Heartbeats, tickTo: (now: number) => void): void {
  for (let now = 0; now <= 60_000; now += 1_000) {
    tickTo(now)
    heartbeats.answered("b", now)
    heartbeats.answered("c", now)
  }
}

/** Node a, observing others, and a way to tick it on time. */
function observing(...others: string[]) {
  const heartbeats = new Heartbeats("a", terms, 0)
  heartbeats.members(new Ring(["a", ...others]), 0)
  const tickTo = (now: number) => {
    while (heartbeats.wakeAt <= now) heartbeats.tick(heartbeats.wakeAt)
  }
  return { heartbeats, tickTo }
}

describe("in five minutes of pauses of up to 3 s", () => {
  const seeds = Array.from({ length: 50 }, (_, nth) => nth + 1)

  it("nobody is suspected who is alive", () => {
    let pauses = 0
    for (const seed of seeds) {
      const run = observe({ seed, untilMs: 300_000 })
      pauses += run.pauses
      expect(run.suspectedAt, `seed ${seed}`).toBeUndefined()
    }
    expect(pauses).toBeGreaterThan(seeds.length * 50)
  })

  it("somebody is suspected if the pauses are 5 s long, so the pauses matter", () => {
    const suspected = seeds.filter(
      (seed) => observe({ seed, untilMs: 300_000, pauseMs: 5_000 }).suspectedAt !== undefined,
    )
    expect(suspected.length).toBeGreaterThan(seeds.length / 2)
  })

  it("a node that dies is suspected within 6 s, and within 12 s if this process pauses twice meanwhile", () => {
    const took = seeds.map((seed) => {
      const diesAt = 20_000 + seed * 4_321
      const calm = observe({ seed, untilMs: diesAt + 20_000, diesAt })
      const paused = observe({ seed, untilMs: diesAt + 20_000, diesAt, pausesAfter: 2 })
      return { seed, calmMs: (calm.suspectedAt ?? 0) - diesAt, pausedMs: (paused.suspectedAt ?? 0) - diesAt }
    })
    for (const { seed, calmMs, pausedMs } of took) {
      expect(calmMs, `seed ${seed}`).toBeGreaterThan(0)
      expect(calmMs, `seed ${seed}`).toBeLessThanOrEqual(6_000)
      expect(pausedMs, `seed ${seed}`).toBeGreaterThan(0)
      expect(pausedMs, `seed ${seed}`).toBeLessThanOrEqual(12_000)
    }
    expect(Math.max(...took.map(({ pausedMs }) => pausedMs))).toBeGreaterThan(9_000)
  })

  it("a node that dies after a calm minute is suspected within 6 s, whatever came before", () => {
    for (const seed of seeds) {
      const { suspectedAt } = observe({ seed, untilMs: 320_000, calmFrom: 240_000, diesAt: 300_000 })
      expect((suspectedAt ?? 0) - 300_000, `seed ${seed}`).toBeGreaterThan(0)
      expect((suspectedAt ?? 0) - 300_000, `seed ${seed}`).toBeLessThanOrEqual(6_000)
    }
  })
})

interface World {
  readonly seed: number
  readonly untilMs: number
  /** The longest pause. Default 3,000. */
  readonly pauseMs?: number
  /** From when on nothing pauses. Default: never. */
  readonly calmFrom?: number
  /** When the observed node falls silent; pauses end then. Default: never. */
  readonly diesAt?: number
  /** How many pauses the observer has soon after that. Default 0. */
  readonly pausesAfter?: number
}

/**
 * One node observes another. Each has pauses of its own, and so has the network, which then delivers late and
 * in order. Pauses of the observer fall anywhere; those of the observed node and of the network do not add up
 * to a longer one. A message takes up to 150 ms.
 */
function observe(world: World): { suspectedAt: number | undefined; pauses: number } {
  const { untilMs, pauseMs = 3_000, diesAt = untilMs, calmFrom = diesAt } = world
  const random = randomFrom(world.seed)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  const schedule = (gap: () => number, length: () => number) => {
    const found: Pause[] = []
    for (let from = gap(); from < Math.min(calmFrom, diesAt); ) {
      found.push({ from, to: Math.min(from + length(), diesAt) })
      from = (found.at(-1)?.to ?? 0) + gap()
    }
    return found
  }
  const length = () => (random() < 0.5 ? pauseMs : between(200, pauseMs))
  const others = schedule(() => between(1_600, random() < 0.3 ? 20_000 : 3_000), length)
  const owns = others.map(() => random() < 0.5)
  const subject = others.filter((_, nth) => owns[nth])
  const network = others.filter((_, nth) => !owns[nth])
  const observer = schedule(() => between(1, random() < 0.3 ? 20_000 : 4_000), length)
  for (let nth = 0; nth < (world.pausesAfter ?? 0); nth++) {
    const from = Math.max(diesAt, observer.at(-1)?.to ?? 0) + between(1, 2_000)
    observer.push({ from, to: from + pauseMs })
  }

  const heartbeats = new Heartbeats("a", terms, 0)
  heartbeats.members(new Ring(["a", "b"]), 0)
  const answers: number[] = []
  const deliveries = { there: 0, back: 0 }
  const deliver = (way: "there" | "back", at: number) => {
    const arrived = Math.max(deliveries[way], after(network, at + between(0, 150)))
    deliveries[way] = arrived
    return arrived
  }
  for (let now = 0; now < untilMs; now += 25) {
    if (after(observer, now) !== now) continue
    // What has arrived and what is due are taken up in any order.
    const isTickFirst = random() < 0.5
    for (const turn of isTickFirst ? ["tick", "answers"] : ["answers", "tick"]) {
      if (turn === "answers") {
        while ((answers[0] ?? untilMs) <= now) {
          answers.shift()
          heartbeats.answered("b", now)
        }
      } else if (now >= heartbeats.wakeAt) {
        if (heartbeats.tick(now).ping.length > 0) {
          const received = after(subject, deliver("there", now))
          if (received < diesAt) answers.push(deliver("back", received))
        }
      }
      if (heartbeats.unreachable.length > 0) {
        return { suspectedAt: now, pauses: others.length + observer.length }
      }
    }
  }
  return { suspectedAt: undefined, pauses: others.length + observer.length }
}

interface Pause {
  readonly from: number
  readonly to: number
}

/** Returns the time, or the end of the pause that it falls into. */
function after(pauses: readonly Pause[], at: number): number {
  return pauses.find(({ from, to }) => at >= from && at < to)?.to ?? at
}

/** A generator of numbers from 0 to 1 (mulberry32), the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
