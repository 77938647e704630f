import { ActorId } from "../../src/index.js"
import { ProcessDiedError, type Stage } from "../../src/sim/index.js"
import { wardOf } from "../../src/virtual/due-entry.js"
import type { Cluster } from "../cluster/cluster.js"
import { crash } from "../cluster/strikes.js"
import { CROWD, PLAIN } from "./clerk.js"
import type { KeeperStrikes } from "./keeper-strikes.js"
import type { Office } from "./office.js"
import type { ReminderLedger } from "./reminder-ledger.js"

/** What happens to an office as a whole: crowds, outages, clocks that jump far, types that are away for a day. */
export class OfficeEvents {
  readonly #stage: Stage
  readonly #cluster: Cluster<Office>
  readonly #office: Parts
  /** By how many hours each clock is ahead. */
  readonly #hours = new Map<string, number>()

  constructor(stage: Stage, cluster: Cluster<Office>, office: Parts) {
    this.#stage = stage
    this.#cluster = cluster
    this.#office = office
    const crowd = wardOf(ActorId.of(cluster.namespace, PLAIN, CROWD), undefined)
    office.strikes.onMoved = (ward) => {
      if (ward === crowd) this.#moved()
    }
  }

  /** Lets happen what this run has. Resolves when all of it is over. */
  async plan({ jumps, crowd }: { readonly jumps: string; readonly crowd: number }): Promise<void> {
    const { faults, random } = this.#stage
    const isHanging = faults["store-hang"] > 0 && this.#stage.knob("outage", [false, false, true])
    await this.#stage.sleep(random.between(500, 3_000))
    if (crowd > 0) await this.#gather(crowd)
    if (isHanging) await this.#outage()
    if (jumps === "day") await this.#day()
  }

  /** The type of the season is back, once and for all. */
  async end(jumps: string): Promise<void> {
    this.#office.bomb.left = 0
    if (jumps === "day") await this.#restartHost()
  }

  /** Sets the clock of a machine by an hour; clocks are two hours apart at most. */
  jump(machine: string): void {
    const before = this.#hours.get(machine) ?? 0
    const now = this.#stage.random.pick([-1, 0, 1])
    this.#hours.set(machine, now)
    this.#stage.shiftClock(machine, (now - before) * HOUR_MS)
    this.#stage.sometimes("a clock jumps an hour ahead", now > before)
    this.#stage.sometimes("a clock jumps an hour back", now < before)
  }

  /** Sets many reminders of one clerk for one time; then its ward moves, if nodes go at all. */
  async #gather(count: number): Promise<void> {
    const { random } = this.#stage
    const machine = random.pick(this.#cluster.machines)
    const at = Math.round(await this.#wallOn(machine)) + 2_000
    for (let part = 0; part * PER_TURN < count; part += 1) {
      const names = Array.from(
        { length: Math.min(PER_TURN, count - part * PER_TURN) },
        (_, one) => `${part}.${one}`,
      )
      await this.#gatherPart(part, names, at)
    }
    while (this.#due(at) > 0 && this.#stage.nowMs < 60_000) {
      const keeper = this.#office.strikes.keeperOf(PLAIN, CROWD)
      await this.#stage.sleep(20)
      if (keeper === undefined || this.#due(at) === 0 || (await this.#wallOn(keeper)) < at) continue
      if (this.#stage.faults.crash > 0 && this.#stage.isUp(keeper)) return crash(this.#stage, keeper)
      return this.#cluster.tell(keeper, ({ node }) => node.leave())
    }
  }

  /** The attempts of a part have the same operation. */
  async #gatherPart(part: number, names: readonly string[], at: number): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const machine = this.#stage.random.pick(this.#cluster.machines)
      let isDone = false
      await this.#cluster.tell(machine, async (office) => {
        isDone = await office.gather(part, names, at)
      })
      if (isDone) return
      await this.#stage.sleep(200)
    }
  }

  #due(at: number): number {
    return this.#office.ledger.dueOf(PLAIN, CROWD, at)
  }

  #moved(): void {
    const due = this.#due(Number.POSITIVE_INFINITY)
    this.#stage.sometimes("a ward moves while many reminders are due", due > MOST_IN_FLIGHT)
    this.#stage.sometimes("a ward moves while more are due than a keeper lists", due > PAGE)
  }

  async #outage(): Promise<void> {
    const { rows } = this.#office.ledger
    const now = await this.#wallOn(this.#cluster.machines[0] as string)
    const isDue = [...rows.values()].some((next) => next < now + MINUTE_MS)
    this.#stage.sometimes("the store is away for a minute as reminders are due", isDue)
    this.#cluster.store.hang(MINUTE_MS)
    await this.#stage.sleep(MINUTE_MS)
  }

  /** The only node that hosts the type comes back without it, a day passes, and it comes back with it. */
  async #day(): Promise<void> {
    const { season } = this.#office
    await this.#stage.sleep(2_000)
    season.isOn = false
    await this.#restartHost()
    await this.#stage.sleep(1_000)
    for (const machine of this.#cluster.machines) this.#stage.shiftClock(machine, 24 * HOUR_MS)
    await this.#stage.sleep(1_000)
    season.isOn = true
    await this.#restartHost()
  }

  /** Restarts the host until it hosts what the season has, or the faults have kept it from that for long. */
  async #restartHost(): Promise<void> {
    const { season } = this.#office
    const host = this.#cluster.machines[0] as string
    const untilMs = this.#stage.nowMs + MINUTE_MS
    let isRight = false
    while (!isRight && this.#stage.nowMs < untilMs) {
      await this.#cluster.tell(host, async ({ node, hostsSeason }) => {
        isRight = hostsSeason === season.isOn
        if (!isRight) await node.leave()
      })
      if (!isRight) await this.#stage.sleep(500)
    }
  }

  /** By the clock of that machine, or of any other while it is down. */
  async #wallOn(machine: string): Promise<number> {
    for (;;) {
      const up = [machine, ...this.#cluster.machines].find((one) => this.#stage.isUp(one))
      try {
        if (up !== undefined) return await this.#stage.on(up, (life) => life.ports.clock.wallMs())
      } catch (error) {
        if (!(error instanceof ProcessDiedError)) throw error
      }
      await this.#stage.sleep(100)
    }
  }
}

interface Parts {
  readonly ledger: ReminderLedger
  readonly strikes: KeeperStrikes
  readonly season: { isOn: boolean }
  readonly bomb: { left: number }
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A turn can change so many reminders. */
const PER_TURN = 28
/** What a keeper fires at a time, and lists at a time. */
const MOST_IN_FLIGHT = 64
const PAGE = 256
